import { apiError } from '../errors/api-error.js';
import type { ApiRequest, Principal } from './request.js';

/** Tells who calls; undefined if the credentials are missing or wrong. */
export type Authenticate = (request: ApiRequest) => Promise<Principal | undefined> | Principal | undefined;

const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The caller; undefined if the API has no credentials hook and so is open to all.
 * Throws 40101 without valid credentials, 40301 without the scope that the method needs.
 */
export async function authorize(
  authenticate: Authenticate | undefined,
  request: ApiRequest,
): Promise<Principal | undefined> {
  if (authenticate === undefined) return undefined;
  const principal = await authenticate(request);
  if (principal === undefined) {
    throw apiError(40101, 'Credentials are missing or wrong', { 'www-authenticate': 'Bearer realm="api"' });
  }
  const scope = safeMethods.has(request.method) ? 'read' : 'write';
  if (!principal.scopes.includes(scope) && !isAdmin(principal)) {
    throw apiError(40301, `This needs the scope "${scope}"`);
  }
  return principal;
}

export function isAdmin(principal: Principal | undefined): boolean {
  return principal?.scopes.includes('admin') ?? false;
}
