import { apiError, type Problem, ProblemList } from '../../errors/api-error.js';
import {
  type CollectionQuery,
  parseCollectionQuery,
  parseSelectionQuery,
  requireNoParameters,
} from '../../query/collection-query.js';
import type { Filter } from '../../query/filter.js';
import { pageLinks } from '../../query/page-links.js';
import type { ItemRecord } from '../../definition/resource.js';
import { type CallContext, Existing, type Page } from '../../definition/storage.js';
import { checkBody, requireFewElements } from '../../validation/large-body.js';
import { inSlices } from '../../validation/slices.js';
import { validatorFor } from '../../validation/validator.js';
import type { Action, Call } from './checked-request.js';
import { served } from './served.js';
import { itemChange } from './requested-change.js';
import { preconditionsOf } from './precondition.js';
import { itemResponse, represent } from './representation.js';

/** GET on a collection, and on `/search/{keyword}`. */
export function listItems(call: Call<'collection' | 'search'>): Action {
  const { resource, storage } = call.route;
  const keyword = call.route.kind === 'search' ? call.route.keyword : undefined;
  const seeks = storage.seeks ?? false;
  const parsed = parseCollectionQuery(resource, call.request.query, call.preferences.count, {
    keyword,
    seeks,
  });
  const query = { ...parsed, filters: [...parsed.filters, ...scopeFilters(call.context.scope)] };
  return async (context) => {
    const page = await served(storage.list?.(query, context));
    const url = collectionUrl(call) + (keyword === undefined ? '' : `/search/${encodeURIComponent(keyword)}`);
    return {
      status: 200,
      headers: {
        link: pageLinks(url, call.request.query, query, page, seeks),
        ...(page.total === undefined ? {} : { 'x-total-count': String(page.total) }),
        ...countPreference(query.count, page),
      },
      body: page.items.map((item) => represent(resource, item, query.fields)),
    };
  };
}

function countPreference(
  asked: CollectionQuery['count'],
  { estimated }: Page<ItemRecord>,
): Record<string, string> {
  const applied = estimated === true ? 'estimated' : asked === 'default' ? undefined : asked;
  return applied === undefined ? {} : { 'preference-applied': `count=${applied}` };
}

/** POST on a collection: one item, or an array where the storage creates many in one transaction. */
export async function createItem(call: Call<'collection'>): Promise<Action> {
  const { resource, storage, serves } = call.route;
  requireNoParameters(call.request.query);
  const { body: given } = call;
  if (isArray(given) && serves('createMany')) return createItems(call, given);
  const body = placed(call, given);
  const problems = new ProblemList();
  await checkBody(resource.bodies.create, body, problems);
  problems.addAll(misplaced(call, body));
  problems.throwIfAny();
  return async (context) => {
    const made = await served(storage.create?.(body as ItemRecord, context));
    const [item, status] = made instanceof Existing ? [made.item, 200] : [made, 201];
    const collection = serves('get') ? collectionUrl(call) : `${call.apiUrl}/${resource.name}`;
    const location = `${collection}/${encodeURIComponent(String(item[resource.key]))}`;
    return itemResponse(resource, item, status, { location });
  };
}

async function createItems(call: Call<'collection'>, elements: readonly unknown[]): Promise<Action> {
  const { resource, storage } = call.route;
  requireFewElements(elements);
  const problems = new ProblemList();
  const bodies: ItemRecord[] = [];
  const { check } = validatorFor(resource.bodies.create);
  await inSlices(elements, (element, index) => {
    const body = placed(call, element);
    problems.addAll(check(body, `[${index}]`));
    problems.addAll(misplaced(call, body));
    bodies.push(body as ItemRecord);
  });
  problems.throwIfAny();
  return async (context) => {
    const items = await served(storage.createMany?.(bodies, context));
    const headers = { location: collectionUrl(call) };
    return { status: 201, headers, body: items.map((item) => represent(resource, item)) };
  };
}

/** PUT on a collection: changes of listed items, all or none. */
export async function replaceItems(call: Call<'collection'>): Promise<Action> {
  const { resource, storage } = call.route;
  requireNoParameters(call.request.query);
  const elements = call.body;
  if (!isArray(elements)) throw apiError(42202, 'the body must be an array of items');
  requireFewElements(elements);
  const problems = new ProblemList();
  const { check } = validatorFor(resource.bodies.bulk);
  await inSlices(elements, (element, index) => problems.addAll(check(element, `[${index}]`)));
  problems.addAll(repeatedKeys(elements, resource.key));
  problems.throwIfAny();
  const conditions = preconditionsOf(call.request);
  const changes = elements.map((element, index) => {
    const body = element as ItemRecord;
    const id = String(body[resource.key]);
    const options = { conditions, merges: resource.partialBulk, at: `[${index}]` };
    return { id, change: itemChange(call, body, options) };
  });
  return async (context) => {
    const items = await served(storage.replaceMany?.(changes, context));
    return { status: 200, headers: {}, body: items.map((item) => represent(resource, item)) };
  };
}

/** DELETE on a collection: the items that the filters leave. */
export function deleteItems(call: Call<'collection'>): Action {
  const { resource, storage } = call.route;
  const selection = parseSelectionQuery(resource, call.request.query);
  const filters = [...selection.filters, ...scopeFilters(call.context.scope)];
  return async (context) => {
    await storage.deleteMany?.({ ...selection, filters }, context);
    return { status: 204, headers: {} };
  };
}

/** The fields of a new item that its place demands. */
function demanded({
  context,
  route,
}: Call<'collection'>): readonly (readonly [field: string, value: unknown])[] {
  const { properties } = route.resource.bodies.create;
  return Object.entries(context.scope).filter(([field]) => properties?.[field] !== undefined);
}

/** The body of a new item, with the fields that its place demands unless it has others. */
function placed(call: Call<'collection'>, body: unknown): unknown {
  const fields = demanded(call);
  return isRecord(body) && fields.length > 0 ? { ...Object.fromEntries(fields), ...body } : body;
}

function misplaced(call: Call<'collection'>, body: unknown): readonly Problem[] {
  if (!isRecord(body)) return [];
  return demanded(call)
    .filter(([field, value]) => body[field] !== value)
    .map(([field, value]) => ({
      code: 42202,
      internalMessage: `${field} must be ${JSON.stringify(value)}, as the path says`,
    }));
}

function* repeatedKeys(elements: readonly unknown[], key: string): Generator<Problem> {
  const seen = new Set<unknown>();
  for (const [index, element] of elements.entries()) {
    const value = isRecord(element) ? element[key] : undefined;
    if (value === undefined) continue;
    const shown = JSON.stringify(value).slice(0, 100);
    if (seen.has(value))
      yield { code: 42202, internalMessage: `[${index}].${key} ${shown} stands in the array twice` };
    seen.add(value);
  }
}

/** What the place of a call demands of the items. */
export function scopeFilters(scope: CallContext['scope']): readonly Filter[] {
  return Object.entries(scope).flatMap(([field, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [{ parameter: field, field, match: 'exact', path: [], values: [value] }]
      : [],
  );
}

function collectionUrl(call: Call): string {
  return `${call.apiUrl}/${call.route.path}`;
}

function isArray(value: unknown): value is readonly unknown[] {
  return Array.isArray(value);
}

function isRecord(value: unknown): value is ItemRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
