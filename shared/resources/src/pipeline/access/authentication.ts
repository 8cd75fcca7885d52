import { createHash } from 'node:crypto';
import type { Principal } from '../../definition/call-context.js';
import { type ApiError, apiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/request.js';

/**
 * Returns the caller; undefined if the request has no credentials. Throws `unauthorized(…)` if the credentials are
 * invalid.
 */
export type Authenticate = (request: ApiRequest) => Promise<Principal | undefined> | Principal | undefined;

/**
 * Returns the caller; undefined if the API has no `authenticate` hook and is open to all.
 * @throws {ApiError} 40101 without valid credentials
 */
export async function authenticateWith(
  authenticate: Authenticate | undefined,
  request: ApiRequest,
): Promise<Principal | undefined> {
  if (authenticate === undefined) return undefined;
  const principal = await authenticate(request);
  if (principal !== undefined) return principal;
  throw apiError(40101, 'Credentials are missing', { 'www-authenticate': challenge() });
}

/**
 * Returns the error for invalid credentials (RFC 6750).
 * @param reason plain ASCII without quotes; shown to the caller, so it must not contain any part of the credentials
 */
export function unauthorized(reason: string): ApiError {
  const headers = { 'www-authenticate': challenge({ error: 'invalid_token', error_description: reason }) };
  return apiError(40101, reason, headers);
}

/** Returns a `WWW-Authenticate` value: the realm and the given parameters. */
export function challenge(parameters: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ realm: 'api', ...parameters });
  return `Bearer ${all.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

const cacheSize = 10_000;

/**
 * Remembers which caller used which credentials. A caller beyond the rate limit can then be rejected without looking up
 * the credentials. Only digests are kept. An entry does not prove that the credentials are still valid.
 */
export class CredentialCache {
  /** Callers by the digest of their credentials, oldest first. */
  readonly #callers = new Map<string, string>();

  callerOf(request: ApiRequest): string | undefined {
    return this.#callers.get(digestOf(request));
  }

  add(request: ApiRequest, caller: string): void {
    const digest = digestOf(request);
    if (this.#callers.get(digest) === caller) return;
    this.#callers.set(digest, caller);
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > cacheSize && oldest !== undefined) this.#callers.delete(oldest);
  }

  delete(request: ApiRequest): void {
    this.#callers.delete(digestOf(request));
  }
}

function digestOf({ headers }: ApiRequest): string {
  const given = JSON.stringify([headers['authorization'], headers['x-api-key']]);
  return createHash('sha256').update(given).digest('base64');
}
