import { apiError, type ApiError } from '../../errors/api-error.js';
import type { ApiRequest, Principal } from '../request/request.js';

/**
 * Tells who calls; undefined if the request carries no credentials. Throws `unauthorized` for credentials that are wrong.
 */
export type Authenticate = (request: ApiRequest) => Promise<Principal | undefined> | Principal | undefined;

/**
 * The caller; undefined if the API has no credentials hook and so is open to all.
 * @throws {ApiError} 40101 without valid credentials
 */
export async function identify(
  authenticate: Authenticate | undefined,
  request: ApiRequest,
): Promise<Principal | undefined> {
  if (authenticate === undefined) return undefined;
  const principal = await authenticate(request);
  if (principal !== undefined) return principal;
  throw apiError(40101, 'Credentials are missing', { 'www-authenticate': challenge() });
}

/**
 * The answer to wrong credentials (RFC 6750).
 * @param reason why, in plain ASCII without quotes; shown to the caller, so never a part of the credentials
 */
export function unauthorized(reason: string): ApiError {
  const headers = { 'www-authenticate': challenge({ error: 'invalid_token', error_description: reason }) };
  return apiError(40101, reason, headers);
}

/** The value of `WWW-Authenticate`. */
export function challenge(parameters: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ realm: 'api', ...parameters });
  return `Bearer ${all.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}
