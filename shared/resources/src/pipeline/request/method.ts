import { apiError } from '../../errors/api-error.js';
import type { StorageFunction } from '../../definition/resource.js';
import type { Route } from './route.js';

const collectionMethods: readonly (readonly [method: string, served: StorageFunction])[] = [
  ['GET', 'list'],
  ['HEAD', 'list'],
  ['GET', 'stream'],
  ['HEAD', 'stream'],
  ['POST', 'create'],
  ['PUT', 'replaceMany'],
  ['DELETE', 'deleteMany'],
];

const itemMethods: readonly (readonly [method: string, served: StorageFunction])[] = [
  ['GET', 'get'],
  ['HEAD', 'get'],
  ['PUT', 'replace'],
  ['PATCH', 'patch'],
  ['DELETE', 'delete'],
];

/** The methods that a route serves, OPTIONS included. */
export function allowedMethods(route: Route): readonly string[] {
  switch (route.kind) {
    case 'collection':
      return [...served(collectionMethods, route), 'OPTIONS'];
    case 'search':
      return ['GET', 'HEAD', 'OPTIONS'];
    case 'item':
      return [...served(itemMethods, route), 'OPTIONS'];
    case 'operation':
      return ['PUT', 'OPTIONS'];
  }
}

/** Throws 40501 with `Allow` unless the route serves the method. */
export function requireMethod(route: Route, method: string): void {
  const allowed = allowedMethods(route);
  if (!allowed.includes(method)) {
    throw apiError(40501, `${method} is not possible here; possible: ${allowed.join(', ')}`, {
      allow: allowed.join(', '),
    });
  }
}

function served(methods: typeof itemMethods, route: Route): readonly string[] {
  return methods.filter(([, name]) => route.serves(name)).map(([method]) => method);
}
