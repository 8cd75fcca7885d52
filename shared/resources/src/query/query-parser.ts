import { decodePairs, decodePercent, parseInteger, shorten, UrlError } from '@longshore/edge';
import { apiError, type Problem, ProblemList } from '../errors/api-error.js';
import {
  type CollectionQuery,
  decodeCursor,
  type QueryRules,
  reservedParameters,
  type Seek,
  type Selection,
  type SortTerm,
} from './collection-query.js';
import { type Filter, findFilter, parseFilter } from './filter.js';

type Parameters = ReadonlyMap<string, readonly string[]>;

/**
 * Parses the query of GET on a collection.
 *
 * @param options `keyword`: the search text from the path `/search/{keyword}`, if any; `seeks`: whether the storage
 *   supports cursors
 * @throws {ApiError} that lists every unknown parameter (40002) and invalid value (40003)
 */
export function parseCollectionQuery(
  resource: QueryRules,
  query: string,
  count: CollectionQuery['count'],
  { keyword, seeks }: { readonly keyword: string | undefined; readonly seeks: boolean },
): CollectionQuery {
  const parameters = group(query);
  const problems = new ProblemList();
  const common = reservedParameters.filter((name) => seeks || (name !== 'after' && name !== 'before'));
  const selection = parseSelection(resource, parameters, problems, keyword, common);
  const sort = problems.collect(() => parseSortParameter(resource, parameters));
  const fields = problems.collect(() => parseFieldsParameter(resource, parameters));
  const limit = problems.collect(() => integer(parameters, 'limit', resource.limits.max));
  const offset = problems.collect(() => parseOffset(parameters, seeks));
  const order = withKey(sort ?? resource.defaultSort, resource.key);
  const byRelevance = selection.search !== undefined && sort === undefined;
  const seek = seeks
    ? problems.collect(() => parseSeek(resource, parameters, order, byRelevance))
    : undefined;
  problems.throwIfAny();
  return {
    ...selection,
    sort: order,
    byRelevance,
    fields,
    limit: limit ?? resource.limits.default,
    offset: offset ?? 0,
    seek,
    count,
  };
}

/**
 * Parses the query of a stream. Only filters are allowed.
 * @throws {ApiError} 40002 for an unknown parameter, 40003 for an invalid value
 */
export function parseFilterQuery(resource: QueryRules, query: string): readonly Filter[] {
  return parseFilters(resource, group(query));
}

/** A parsed query of a DELETE on a collection. */
interface DeletionQuery {
  readonly filters: readonly Filter[];
  readonly reason: string | undefined;
}

/**
 * Parses the query of a DELETE on a collection: filters, and a reason if the resource takes one.
 * @throws {ApiError} 40002 for an unknown parameter, 40003 for an invalid value or a missing reason
 */
export function parseDeletionQuery(resource: QueryRules, query: string): DeletionQuery {
  const parameters = group(query);
  const reason = takeReason(resource, parameters);
  return { filters: parseFilters(resource, parameters), reason };
}

/**
 * Parses the query of a DELETE on an item. Returns the reason, if any.
 * @throws {ApiError} 40002 for an unknown parameter, 40003 for an invalid or missing reason
 */
export function parseItemDeletionQuery(resource: QueryRules, query: string): string | undefined {
  const parameters = group(query);
  const reason = takeReason(resource, parameters);
  const problems = new ProblemList();
  const names = resource.deletionReason === undefined ? [] : ['reason'];
  for (const name of parameters.keys()) problems.add(unknownParameter(name, names));
  problems.throwIfAny();
  return reason;
}

/** Maximum length of `reason`, in characters. */
export const maxReasonLength = 500;

/**
 * Removes `reason` from the parameters and returns it. Returns undefined if there is no reason, or if the resource
 * takes none.
 * @throws {ApiError} 40003 if a required reason is missing, or the reason is empty or too long
 */
function takeReason(
  { deletionReason }: QueryRules,
  parameters: Map<string, readonly string[]>,
): string | undefined {
  if (deletionReason === undefined) return undefined;
  const reason = single(parameters, 'reason');
  parameters.delete('reason');
  if (reason === undefined && deletionReason === 'required')
    throw apiError(40003, 'reason is required: give the reason for the deletion');
  if (reason !== undefined && (reason === '' || reason.length > maxReasonLength))
    throw apiError(40003, `reason must have 1 to ${maxReasonLength} characters`);
  return reason;
}

function parseFilters(resource: QueryRules, parameters: Map<string, readonly string[]>): readonly Filter[] {
  const problems = new ProblemList();
  if (parameters.delete('q')) problems.add({ code: 40002, internalMessage: noSearch });
  const { filters } = parseSelection(resource, parameters, problems, undefined, []);
  problems.throwIfAny();
  return filters;
}

const noSearch =
  'q is only for reading, because a search also finds items that merely resemble the text; select the items by filters, or by their ids';

/** Maximum `offset`. A storage has to scan all rows before an offset, so later pages can be reached only by cursor. */
export const maxOffset = 10_000;

/** Maximum length of `q`, in characters. */
export const maxSearchLength = 1_000;

/** Maximum number of times that one parameter can appear in a query. */
export const maxValues = 100;

/** Maximum number of different parameters in a query. */
const maxParameters = 100;

export const maxWaitSeconds = 60;

interface ItemQuery {
  readonly fields: readonly string[] | undefined;
  /** How long to wait, in milliseconds; undefined to respond at once. */
  readonly waitMs: number | undefined;
}

/** Parses the query of GET on an item: `fields`, and `wait` if the storage supports it. */
export function parseItemQuery(resource: QueryRules, query: string, waits: boolean): ItemQuery {
  const problems = new ProblemList();
  const parameters = group(query);
  const names = waits ? ['fields', 'wait'] : ['fields'];
  for (const name of parameters.keys()) {
    if (!names.includes(name)) problems.add(unknownParameter(name, names));
  }
  const fields = problems.collect(() => parseFieldsParameter(resource, parameters));
  const seconds = waits ? problems.collect(() => integer(parameters, 'wait', maxWaitSeconds)) : undefined;
  problems.throwIfAny();
  return { fields, waitMs: seconds === undefined ? undefined : seconds * 1_000 };
}

/**
 * Rejects all parameters, for calls that take none.
 * @throws {ApiError} 40002
 */
export function requireNoParameters(query: string): void {
  const problems = new ProblemList();
  for (const name of group(query).keys()) problems.add(unknownParameter(name, []));
  problems.throwIfAny();
}

function parseSelection(
  resource: QueryRules,
  parameters: Parameters,
  problems: ProblemList,
  keyword: string | undefined,
  common: readonly string[],
): Selection {
  const names = common.filter(
    (name) => name !== 'q' || (resource.search.length > 0 && keyword === undefined),
  );
  const filters: Filter[] = [];
  for (const [name, values] of parameters) {
    if (names.includes(name)) continue;
    const parameter = findFilter(resource.filters, name);
    if (parameter === undefined) problems.add(unknownParameter(name, [...filterNames(resource), ...names]));
    else {
      const filter = problems.collect(() => parseFilter(parameter, name, values));
      if (filter !== undefined) filters.push(filter);
    }
  }
  const q = names.includes('q') ? problems.collect(() => single(parameters, 'q')) : undefined;
  const search = keyword ?? q;
  const name = keyword === undefined ? 'q' : 'the keyword';
  if (search?.trim() === '') problems.add({ code: 40003, internalMessage: `${name} must not be empty` });
  if (search !== undefined && search.length > maxSearchLength)
    problems.add({ code: 40003, internalMessage: `${name} must have at most ${maxSearchLength} characters` });
  return { filters, search, searchFields: resource.search };
}

/** Returns the names of filters as callers write them, e.g. `args.<path>`. */
function filterNames({ filters }: Pick<QueryRules, 'filters'>): string[] {
  return [...filters.values()].map(({ parameter, match }) =>
    match === 'path' ? `${parameter}.<path>` : parameter,
  );
}

function parseSortParameter(resource: QueryRules, parameters: Parameters): readonly SortTerm[] | undefined {
  const text = single(parameters, 'sort');
  return text === undefined ? undefined : parseSort(text, resource.sort);
}

function parseFieldsParameter(resource: QueryRules, parameters: Parameters): readonly string[] | undefined {
  const text = single(parameters, 'fields');
  return text === undefined ? undefined : parseFields(text, resource.fields);
}

function parseSeek(
  resource: QueryRules,
  parameters: Parameters,
  sort: readonly SortTerm[],
  byRelevance: boolean,
): Seek | undefined {
  const after = single(parameters, 'after');
  const before = single(parameters, 'before');
  const cursor = after ?? before;
  if (cursor === undefined) return undefined;
  if (after !== undefined && before !== undefined)
    throw apiError(40003, 'after and before cannot be combined');
  if (parameters.has('offset')) throw apiError(40003, 'a cursor and offset cannot be combined');
  if (byRelevance) throw apiError(40003, 'a cursor with a search needs sort');
  const direction = after === undefined ? 'before' : 'after';
  return { direction, values: decodeCursor(resource, sort, direction, cursor) };
}

function parseOffset(parameters: Parameters, seeks: boolean): number | undefined {
  const hint = seeks ? '; follow the links of the pages, or use `after` and `before` with their cursors' : '';
  return integer(parameters, 'offset', maxOffset, hint);
}

function integer(parameters: Parameters, name: string, maximum: number, hint = ''): number | undefined {
  const text = single(parameters, name);
  if (text === undefined) return undefined;
  const value = parseInteger(text);
  if (value === undefined || value < 0 || value > maximum)
    throw apiError(
      40003,
      `${name} must be an integer from 0 to ${maximum}, not "${shorten(text, 100)}"${hint}`,
    );
  return value;
}

function single(parameters: Parameters, name: string): string | undefined {
  const values = parameters.get(name);
  if (values !== undefined && values.length > 1) throw apiError(40003, `${name} must be given once`);
  return values?.[0];
}

/**
 * Appends the key to the terms if it is missing. The key gets the direction of the last term, so that one index can
 * serve the whole order.
 */
function withKey(sort: readonly SortTerm[], key: string): readonly SortTerm[] {
  if (sort.some(({ field }) => field === key)) return sort;
  return [...sort, { field: key, direction: sort.at(-1)?.direction ?? 'asc' }];
}

function unknownParameter(name: string, parameters: readonly string[]): Problem {
  const hint = parameters.length === 0 ? 'none is allowed here' : `known here: ${parameters.join(', ')}`;
  return { code: 40002, internalMessage: `Unknown parameter "${shorten(name, 100)}"; ${hint}` };
}

function group(query: string): Map<string, readonly string[]> {
  const parameters = new Map<string, string[]>();
  for (const [name, value] of parseQueryString(query)) {
    const values = parameters.get(name);
    if (values === undefined) parameters.set(name, [value]);
    else values.push(value);
    if (parameters.size > maxParameters)
      throw apiError(40003, `a query must have at most ${maxParameters} different parameters`);
    if (values !== undefined && values.length > maxValues)
      throw apiError(40003, `${shorten(name, 100)} must be given at most ${maxValues} times`);
  }
  return parameters;
}

/**
 * Parses `sort`, e.g. `+a,-b`. Without a sign, the order is ascending. A space counts as `+`, because URL decoding
 * turns `+` into a space.
 * @throws {ApiError} 40003 if a field is not sortable or is repeated
 */
function parseSort(text: string, sortable: readonly string[]): readonly SortTerm[] {
  const terms = text.split(',').map((term): SortTerm => {
    const sign = /^[-+ ]/.exec(term)?.[0];
    return { field: sign === undefined ? term : term.slice(1), direction: sign === '-' ? 'desc' : 'asc' };
  });
  requireKnownOnce(
    'sort',
    terms.map(({ field }) => field),
    sortable,
  );
  return terms;
}

/**
 * Parses `fields`: names separated by commas.
 * @throws {ApiError} 40003 if a name is unknown or repeated
 */
function parseFields(text: string, fields: readonly string[]): readonly string[] {
  const names = text.split(',');
  requireKnownOnce('fields', names, fields);
  return names;
}

function requireKnownOnce(parameter: string, names: readonly string[], allowed: readonly string[]): void {
  for (const [index, name] of names.entries()) {
    if (!allowed.includes(name)) {
      throw apiError(
        40003,
        `${parameter} does not support "${shorten(name, 100)}"; supported: ${allowed.join(', ')}`,
      );
    }
    if (names.indexOf(name) !== index) throw apiError(40003, `${parameter} repeats "${name}"`);
  }
}

/**
 * Returns the decoded names and values of a query's parameters, in their original order.
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function parseQueryString(query: string): readonly (readonly [name: string, value: string])[] {
  return rejecting(() => decodePairs(query));
}

/**
 * Returns the decoded segments of a path, ignoring a trailing slash.
 * @throws {ApiError} 40003 for bad percent-encoding, text that is not UTF-8, and NUL
 */
export function pathSegments(path: string): readonly string[] {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/');
  return rejecting(() => segments.map((segment) => decodePercent(segment, 'The path')));
}

function rejecting<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    throw error instanceof UrlError ? apiError(40003, error.message) : error;
  }
}
