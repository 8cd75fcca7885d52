import { shorten } from '@longshore/edge';
import type { Catalog } from '../definition/catalog.js';
import type { Child, Operation, Resource, SetOperation } from '../definition/resource.js';
import type { AnyStorage, StorageFunction } from '../definition/storage.js';
import { apiError, ApiError } from '../errors/api-error.js';
import { parseValue } from '../query/filter.js';
import type { ItemRecord } from '../validation/json-schema.js';

/** A parent item in a path, such as the customer in `/customers/7/orders`. `child` is the collection below it. */
export interface Parent {
  readonly resource: Resource;
  readonly storage: AnyStorage;
  readonly id: ItemId;
  readonly child: Child;
}

interface RoutedCollection {
  readonly resource: Resource;
  readonly storage: AnyStorage;
  /** The parent items in the path, outermost first. */
  readonly parents: readonly Parent[];
  /** The canonical, encoded path of the collection, such as `customers/7/orders`. */
  readonly path: string;
  readonly serves: (name: StorageFunction) => boolean;
  /** Returns whether the caller's row scope includes an item; undefined if the caller may see all items. */
  readonly isVisible?: (item: ItemRecord) => boolean;
  /** Returns the reason why a call is not served; undefined if the definition gives none. */
  readonly reasonAgainst: (name: StorageFunction) => string | undefined;
}

/** An operation and its name, the last word of its path. */
interface Named<Type> {
  readonly operation: Type;
  readonly name: string;
}

/** What a path refers to. */
export type Route =
  | (RoutedCollection & { readonly kind: 'collection' })
  | (RoutedCollection & { readonly kind: 'search'; readonly keyword: string })
  | (RoutedCollection & { readonly kind: 'item'; readonly id: ItemId })
  | (RoutedCollection & { readonly kind: 'operation'; readonly id: ItemId } & Named<Operation>)
  | (RoutedCollection & { readonly kind: 'set-operation' } & Named<SetOperation>);

/** The only API version that is served. */
export const supportedVersion = 'v1';

/**
 * Returns the segments after `api/v1`.
 * @throws {ApiError} 40403 for any other version
 */
export function afterVersion(segments: readonly string[]): readonly string[] {
  const [, version = '', ...segmentsBelow] = segments;
  if (version.toLowerCase() !== supportedVersion) {
    throw apiError(40403, `There is no version "${shorten(version, 100)}"; supported: ${supportedVersion}`);
  }
  return segmentsBelow;
}

/**
 * Finds the route for the segments after the version. The words of a path match without regard to case; ids do not.
 * @throws {ApiError} 40401 if there is no such path
 */
export function findRoute(catalog: Catalog, segments: readonly string[]): Route {
  const [name = '', ...segmentsBelow] = segments;
  const resource = catalog.roots.get(name.toLowerCase());
  const route = resource && walk(catalog, segmentsBelow, collectionAt(catalog, resource, [], resource.name));
  if (route === undefined) throw noSuchPath(segments);
  return route;
}

/** Returns the path of a route with placeholders for its ids, such as `/api/v1/customers/{id}/orders`. */
export function patternOf(route: Route): string {
  const parents = route.parents.map(({ resource }) => `/${resource.name}/{id}`).join('');
  const collection = `/api/${supportedVersion}${parents}/${route.resource.name}`;
  switch (route.kind) {
    case 'collection':
      return collection;
    case 'search':
      return `${collection}/search/{keyword}`;
    case 'item':
      return `${collection}/{id}`;
    case 'operation':
      return `${collection}/{id}/${route.name}`;
    case 'set-operation':
      return `${collection}/${route.name}`;
  }
}

/** Returns whether GET on the route returns a stream of events. */
export function isStream(route: Route): boolean {
  return route.kind === 'collection' && route.serves('stream');
}

function walk(
  catalog: Catalog,
  segments: readonly string[],
  collection: RoutedCollection,
): Route | undefined {
  const { resource, parents, path, serves } = collection;
  const [segment, name, ...deeper] = segments;
  if (segment === undefined) return { kind: 'collection', ...collection };
  if (name !== undefined && isSearch(collection, segment) && deeper.length === 0)
    return { kind: 'search', keyword: name, ...collection };
  const setName = segment.toLowerCase();
  const setOperation = resource.setOperations.get(setName);
  if (setOperation !== undefined && name === undefined && serves('setOperations'))
    return { kind: 'set-operation', operation: setOperation, name: setName, ...collection };
  if (segment === '' || !servesItems(serves)) return undefined;
  const id = itemIdOf(resource, segment);
  if (name === undefined) return { kind: 'item', id, ...collection };
  const word = name.toLowerCase();
  const child = resource.children.get(word);
  if (child !== undefined) {
    const childPath = `${path}/${encodeURIComponent(id)}/${child.resource.name}`;
    const below = [...parents, { resource, storage: collection.storage, id, child }];
    return walk(catalog, deeper, collectionAt(catalog, child.resource, below, childPath));
  }
  const operation = resource.operations.get(word);
  if (operation === undefined || deeper.length > 0 || !serves('operations')) return undefined;
  return { kind: 'operation', id, operation, name: word, ...collection };
}

function collectionAt(
  catalog: Catalog,
  resource: Resource,
  parents: readonly Parent[],
  path: string,
): RoutedCollection {
  const storage = catalog.storageOf(resource);
  const child = parents.at(-1)?.child;
  const served = child?.serves;
  const serves = (name: StorageFunction): boolean =>
    storage[name] !== undefined && (served?.has(name) ?? true);
  const reasonAgainst = (name: StorageFunction): string | undefined =>
    child?.notAllowed.get(name) ?? resource.notAllowed.get(name);
  return { resource, storage, parents, path, serves, reasonAgainst };
}

function isSearch({ resource, serves }: RoutedCollection, segment: string): boolean {
  return hasSearchPath(resource) && segment.toLowerCase() === 'search' && serves('list');
}

function servesItems(serves: RoutedCollection['serves']): boolean {
  return (['get', 'replace', 'patch', 'delete', 'operations'] as const).some(serves);
}

/**
 * Returns the error for a path that leads nowhere.
 *
 * @param slash whether the path leads somewhere without the slash at its end
 */
export function noSuchPath(segments: readonly string[], slash = false): Error {
  const path = `/${shorten(segments.join('/'), 200)}`;
  const hint = slash
    ? `/: the id after the slash is missing; the collection is ${path}, without a slash`
    : '';
  return apiError(40401, `There is no path ${path}${hint}`);
}

const collectionMethods: readonly (readonly [method: string, name: StorageFunction])[] = [
  ['GET', 'list'],
  ['HEAD', 'list'],
  ['GET', 'stream'],
  ['HEAD', 'stream'],
  ['POST', 'create'],
  ['PUT', 'replaceMany'],
  ['DELETE', 'deleteMany'],
];

const itemMethods: readonly (readonly [method: string, name: StorageFunction])[] = [
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'replace'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
];

/** Returns the methods that a route serves, including OPTIONS. */
export function allowedMethods(route: Route): readonly string[] {
  switch (route.kind) {
    case 'collection':
      return [...methodsServed(collectionMethods, route), 'OPTIONS'];
    case 'search':
      return ['GET', 'HEAD', 'OPTIONS'];
    case 'item':
      return [...methodsServed(itemMethods, route), 'OPTIONS'];
    case 'operation':
    case 'set-operation':
      return ['PUT', 'OPTIONS'];
  }
}

/**
 * Rejects methods that the route does not serve.
 * @throws {ApiError} 40501 with an `Allow` header
 */
export function requireMethod(route: Route, method: string): void {
  const allowed = allowedMethods(route);
  if (!allowed.includes(method)) {
    const reason = reasonAgainst(route, method);
    const message =
      reason === undefined ? `${method} is not possible here` : `${method} is not possible here: ${reason}`;
    throw apiError(40501, `${message.replace(/\.$/, '')}; possible: ${allowed.join(', ')}`, {
      allow: allowed.join(', '),
    });
  }
}

/**
 * Returns the storage function that serves a method of a route. Returns undefined for OPTIONS, special operations, and
 * methods that are not served.
 */
export function functionOf(route: Route, method: string): StorageFunction | undefined {
  const methods = route.kind === 'item' ? itemMethods : isOperation(route) ? [] : collectionMethods;
  return methods.find(([name, serving]) => name === method && route.serves(serving))?.[1];
}

function isOperation({ kind }: Route): boolean {
  return kind === 'operation' || kind === 'set-operation';
}

function reasonAgainst(route: Route, method: string): string | undefined {
  if (route.kind !== 'collection' && route.kind !== 'item') return undefined;
  const methods = route.kind === 'collection' ? collectionMethods : itemMethods;
  const name = methods.find(([one]) => one === method)?.[1];
  return name && route.reasonAgainst(name);
}

function methodsServed(methods: typeof itemMethods, route: Route): readonly string[] {
  return methods.filter(([, name]) => route.serves(name)).map(([method]) => method);
}

declare const normalized: unique symbol;

/** An id from a path, in its only spelling: a UUID in lower case. {@link itemIdOf} makes it. */
export type ItemId = string & { readonly [normalized]: true };

type Keyed = Pick<Resource, 'item' | 'key'>;

/** Returns the id that a segment of a path names. No item has the id if {@link keyValue} is undefined for it. */
function itemIdOf(resource: Keyed, segment: string): ItemId {
  return String(keyValue(resource, segment) ?? segment) as ItemId;
}

/** Converts an id to the type of the key; undefined if no item can have this id. */
export function keyValue({ item, key }: Keyed, id: string): string | number | boolean | undefined {
  try {
    return parseValue(item.properties?.[key] ?? {}, 'id', id);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

/**
 * Returns whether `/{collection}/search/{keyword}` searches the collection. It does not where an item can have the id
 * `search`, so that no id is reserved; such collections have `q` only.
 */
export function hasSearchPath(resource: Keyed & Pick<Resource, 'search'>): boolean {
  return resource.search.length > 0 && keyValue(resource, 'search') === undefined;
}
