import { apiError } from '../errors/api-error.js';
import type { Child, Operation, Resource, StorageFunction } from '../resource/resource.js';

/** An item above the one that a path names. */
export interface Parent {
  readonly resource: Resource;
  readonly id: string;
  readonly child: Child;
}

interface Place {
  readonly resource: Resource;
  /** Outermost first. */
  readonly parents: readonly Parent[];
  /** The collection's path in its canonical form, encoded, from the resource's name on. */
  readonly path: string;
  readonly serves: (name: StorageFunction) => boolean;
}

/** What a path names. */
export type Route =
  | (Place & { readonly kind: 'collection' })
  | (Place & { readonly kind: 'search'; readonly keyword: string })
  | (Place & { readonly kind: 'item'; readonly id: string })
  | (Place & { readonly kind: 'operation'; readonly id: string; readonly operation: Operation });

/**
 * Finds the route of the segments after the version: one look-up per segment, however many resources there are.
 * Names are matched without regard to case, ids keep theirs.
 * Throws 40401.
 */
export function findRoute(resources: ReadonlyMap<string, Resource>, segments: readonly string[]): Route {
  const [name = '', ...rest] = segments;
  const resource = resources.get(name.toLowerCase());
  const route = resource && walk(resource, rest, [], resource.name, servesOf(resource, undefined));
  if (route === undefined) throw noSuchPath(segments);
  return route;
}

function walk(
  resource: Resource,
  rest: readonly string[],
  parents: readonly Parent[],
  path: string,
  serves: Place['serves'],
): Route | undefined {
  const place: Place = { resource, parents, path, serves };
  const [id, name, ...deeper] = rest;
  if (id === undefined) return { kind: 'collection', ...place };
  if (
    name !== undefined &&
    id.toLowerCase() === 'search' &&
    resource.search.length > 0 &&
    deeper.length === 0
  ) {
    return { kind: 'search', keyword: name, ...place };
  }
  if (id === '' || !servesItems(serves)) return undefined;
  if (name === undefined) return { kind: 'item', id, ...place };
  const child = resource.children.get(name.toLowerCase());
  if (child !== undefined) {
    const childPath = `${path}/${encodeURIComponent(id)}/${child.resource.name}`;
    const below = [...parents, { resource, id, child }];
    return walk(child.resource, deeper, below, childPath, servesOf(child.resource, child));
  }
  const operation = resource.operations.get(name.toLowerCase());
  if (operation === undefined || deeper.length > 0 || !serves('operations')) return undefined;
  return { kind: 'operation', id, operation, ...place };
}

function servesOf(resource: Resource, child: Child | undefined): Place['serves'] {
  return (name) => resource.storage[name] !== undefined && (child?.serves?.has(name) ?? true);
}

function servesItems(serves: Place['serves']): boolean {
  return (['get', 'replace', 'patch', 'delete', 'operations'] as const).some(serves);
}

function noSuchPath(segments: readonly string[]): Error {
  return apiError(40401, `There is no path /${segments.join('/').slice(0, 200)}`);
}
