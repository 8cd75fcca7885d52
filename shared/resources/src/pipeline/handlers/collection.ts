import { inSlices, mapInSlices, shorten } from '@longshore/edge';
import type { CallContext } from '../../definition/context.js';
import { afterCommit, Existing, resultOf } from '../../definition/storage.js';
import { apiError, type Problem, ProblemList } from '../../errors/api-error.js';
import type { CollectionQuery } from '../../query/collection-query.js';
import type { Filter } from '../../query/filter.js';
import { type Page, pageLinks } from '../../query/page.js';
import { parseCollectionQuery, parseDeletionQuery, requireNoParameters } from '../../query/query-parser.js';
import type { ItemRecord } from '../../validation/json-schema.js';
import { checkBody, requireElements, validatorFor } from '../../validation/validator.js';
import { type CheckedRequest, type Execute, throwAllProblems } from './checked-request.js';
import { itemResponse, matchesWeakly, pageTag, preconditionsOf, represent } from './representation.js';
import { requestedChange } from './requested-change.js';

/** Serves GET on a collection and on `/search/{keyword}`. Responds with 304 if the caller already has this page. */
export function listItems(checked: CheckedRequest<'collection' | 'search'>): Execute {
  const { resource, storage } = checked.route;
  const keyword = checked.route.kind === 'search' ? checked.route.keyword : undefined;
  const seeks = storage.seeks ?? false;
  const parsed = parseCollectionQuery(resource, checked.request.query, checked.preferences.count, {
    keyword,
    seeks,
  });
  const query = { ...parsed, filters: [...parsed.filters, ...parentFilters(checked.context.parentFields)] };
  const { ifNoneMatch } = preconditionsOf(checked.request);
  return async (context) => {
    const page = await resultOf(storage.list?.(query, context, checked.request.signal));
    const url =
      collectionUrl(checked) + (keyword === undefined ? '' : `/search/${encodeURIComponent(keyword)}`);
    const headers = {
      link: pageLinks(url, checked.request.query, query, page, seeks),
      ...(page.total === undefined ? {} : { 'x-total-count': String(page.total) }),
      ...appliedPreferences(query, page),
    };
    const body = JSON.stringify(page.items.map((item) => represent(resource, item, query.fields)));
    const etag = pageTag(body, headers);
    const isKnown = ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag);
    return { status: isKnown ? 304 : 200, headers: { ...headers, etag }, body };
  };
}

/**
 * Returns the `Preference-Applied` header, or no header if nothing applies. The header contains `count=estimated` for
 * an estimated total, otherwise the count that the caller requested. It contains `search=partial` if the search stopped
 * early, and `sort=partial` if only some of the items were compared to sort the list.
 */
function appliedPreferences(
  { count: requested, search }: CollectionQuery,
  { estimated, partial }: Page<ItemRecord>,
): Record<string, string> {
  const count = estimated === true ? 'estimated' : requested === 'default' ? undefined : requested;
  const applied = [
    ...(count === undefined ? [] : [`count=${count}`]),
    ...(partial === true ? [search === undefined ? 'sort=partial' : 'search=partial'] : []),
  ];
  return applied.length === 0 ? {} : { 'preference-applied': applied.join(', ') };
}

/** Serves POST on a collection: creates one item, or an array of items if the storage has `createMany`. */
export async function createItem(checked: CheckedRequest<'collection'>): Promise<Execute> {
  const { resource, storage, serves } = checked.route;
  requireNoParameters(checked.request.query);
  const { body: sent } = checked;
  if (isArray(sent) && serves('createMany')) return createItems(checked, sent);
  const body = withParentFields(checked, sent);
  const problems = new ProblemList();
  await checkBody(resource.bodies.create, body, problems);
  problems.addAll(wrongParentFields(checked, body));
  await throwAllProblems(checked, problems);
  return async (context) => {
    const created = await resultOf(storage.create?.(body as ItemRecord, context));
    const [item, status] = created instanceof Existing ? [created.item, 200] : [created, 201];
    const collection = serves('get') ? collectionUrl(checked) : `${checked.apiUrl}/${resource.name}`;
    const location = `${collection}/${encodeURIComponent(String(item[resource.key]))}`;
    return itemResponse(resource, item, status, { location });
  };
}

async function createItems(
  checked: CheckedRequest<'collection'>,
  elements: readonly unknown[],
): Promise<Execute> {
  const { resource, storage } = checked.route;
  requireElements(elements);
  const problems = new ProblemList();
  const bodies: ItemRecord[] = [];
  const { check } = validatorFor(resource.bodies.create);
  await inSlices(elements, (element, index) => {
    const body = withParentFields(checked, element);
    problems.addAll(check(body, `[${index}]`));
    problems.addAll(wrongParentFields(checked, body));
    bodies.push(body as ItemRecord);
  });
  await throwAllProblems(checked, problems);
  return async (context) => {
    const items = await resultOf(storage.createMany?.(bodies, context));
    const headers = { location: collectionUrl(checked) };
    const body = await mapInSlices(items, (item) => represent(resource, item));
    return { status: 201, headers, body };
  };
}

/** Serves PUT on a collection: changes the listed items in one storage call. */
export async function replaceItems(checked: CheckedRequest<'collection'>): Promise<Execute> {
  const { resource, storage } = checked.route;
  requireNoParameters(checked.request.query);
  const elements = checked.body;
  if (!isArray(elements)) throw apiError(42202, 'the body must be an array of items');
  requireElements(elements);
  const problems = new ProblemList();
  const { check } = validatorFor(resource.bodies.bulk);
  await inSlices(elements, (element, index) => problems.addAll(check(element, `[${index}]`)));
  problems.addAll(repeatedKeys(elements, resource.key));
  await throwAllProblems(checked, problems);
  const conditions = preconditionsOf(checked.request);
  const changes = await mapInSlices(elements, (element, index) => {
    const body = element as ItemRecord;
    const id = String(body[resource.key]);
    const options = { conditions, merges: resource.partialBulk, at: `[${index}]` };
    return { id, change: requestedChange(resource, body, options) };
  });
  return async (context) => {
    const items = await resultOf(storage.replaceMany?.(changes, context));
    const body = await mapInSlices(items, (item) => represent(resource, item));
    return { status: 200, headers: {}, body };
  };
}

/** Serves DELETE on a collection: deletes the items that match the filters. */
export function deleteItems(checked: CheckedRequest<'collection'>): Execute {
  const { resource, storage } = checked.route;
  const { filters: selected, reason } = parseDeletionQuery(resource, checked.request.query);
  const filters = [...selected, ...parentFilters(checked.context.parentFields)];
  return async (context) => {
    const deleted = await resultOf(storage.deleteMany?.(filters, { ...context, reason }));
    if (deleted === afterCommit) return { status: 202, headers: {} };
    return { status: 204, headers: { 'x-total-count': String(deleted) } };
  };
}

/** Returns the fields that are set by the path and allowed in the body of a new item. */
function prescribed({
  context,
  route,
}: CheckedRequest<'collection'>): readonly (readonly [field: string, value: unknown])[] {
  const { properties } = route.resource.bodies.create;
  return Object.entries(context.parentFields).filter(([field]) => properties?.[field] !== undefined);
}

/** Adds the fields that the path sets, unless the body has them. {@link wrongParentFields} rejects other values. */
function withParentFields(checked: CheckedRequest<'collection'>, body: unknown): unknown {
  const fields = prescribed(checked);
  return isRecord(body) && fields.length > 0 ? { ...Object.fromEntries(fields), ...body } : body;
}

function wrongParentFields(checked: CheckedRequest<'collection'>, body: unknown): readonly Problem[] {
  if (!isRecord(body)) return [];
  return prescribed(checked)
    .filter(([field, value]) => body[field] !== value)
    .map(([field, value]) => ({
      code: 42202,
      internalMessage: `${field} must be ${JSON.stringify(value)}, as in the path`,
    }));
}

function* repeatedKeys(elements: readonly unknown[], key: string): Generator<Problem> {
  const seen = new Set<unknown>();
  for (const [index, element] of elements.entries()) {
    const value = isRecord(element) ? element[key] : undefined;
    if (value === undefined) continue;
    const shown = shorten(JSON.stringify(value), 100);
    if (seen.has(value))
      yield { code: 42202, internalMessage: `[${index}].${key} ${shown} appears more than once` };
    seen.add(value);
  }
}

/** Returns an exact-match filter for each field that the path sets. */
export function parentFilters(parentFields: CallContext['parentFields']): readonly Filter[] {
  return Object.entries(parentFields).flatMap(([field, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [{ parameter: field, field, match: 'exact', path: [], values: [value] }]
      : [],
  );
}

function collectionUrl(checked: CheckedRequest): string {
  return `${checked.apiUrl}/${checked.route.path}`;
}

function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is ItemRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
