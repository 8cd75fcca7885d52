import type { Principal } from '../../definition/call-context.js';
import { apiError } from '../../errors/api-error.js';
import type { Route } from '../request/route.js';
import { challenge } from './authentication.js';

/** The properties of a call that determine which scope it requires. */
export interface ScopedCall {
  /** The name of the resource that the call reads or changes. */
  readonly resource: string;
  /** The name of the resource at the top of the path. */
  readonly root: string;
  readonly method: string;
  readonly kind: Route['kind'];
  /** The verb of a special operation or set operation; undefined for any other call. */
  readonly operation: string | undefined;
}

/** Returns the scope that a caller needs for a call, such as `read`. */
export type ScopeOf = (call: ScopedCall) => string;

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Returns `read` for GET, HEAD and OPTIONS, `write` for everything else. */
export function readOrWrite({ method }: Pick<ScopedCall, 'method'>): string {
  return safeMethods.has(method) ? 'read' : 'write';
}

export function scopedCall(route: Route, method: string): ScopedCall {
  const { resource, parents } = route;
  const root = (parents[0] ?? route).resource.name;
  const operation = 'operation' in route ? route.operation.verb : undefined;
  return { resource: resource.name, root, method, kind: route.kind, operation };
}

/**
 * Checks that the caller has a scope or is an admin. Always succeeds if the API is open to all.
 * @throws {ApiError} 40301 with the name of the missing scope
 */
export function requireScope(principal: Principal | undefined, scope: string): void {
  if (principal === undefined || principal.scopes.includes(scope) || isAdmin(principal)) return;
  const held = principal.scopes.join(', ') || 'none';
  throw apiError(40301, `This needs the scope "${scope}"; these credentials have ${held}`, {
    'www-authenticate': challenge({ error: 'insufficient_scope', scope }),
  });
}

export function isAdmin(principal: Principal | undefined): boolean {
  return principal?.scopes.includes('admin') ?? false;
}
