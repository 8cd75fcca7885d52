import type { StorageFunction } from '../../definition/storage.js';
import { apiError } from '../../errors/api-error.js';
import type { Route } from './route.js';

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
