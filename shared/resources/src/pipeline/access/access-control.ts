import { createHash } from 'node:crypto';
import { type Attempt, networkOf, type Throttle, type ThrottlePolicy } from '@longshore/edge';
import type { Principal } from '../../definition/context.js';
import { ApiError, apiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request.js';
import type { Route } from '../route.js';

/** Settings that determine who may call the API, and how often. */
export interface AccessControl {
  /** Identifies the caller; undefined if the API is open to all. */
  readonly authenticate: Authenticate | undefined;
  /** Limits the requests of each caller; undefined if there is no limit. */
  readonly rateLimit: Throttle | undefined;
  /** Interval at which the credentials of an open event stream are checked again, in milliseconds; default 30,000. */
  readonly recheckMs?: number | undefined;
}

/**
 * The caller of a request, and the rate limit headers. Passed to a callback instead of returned, because a rejected
 * request throws, and its error response needs them, too.
 */
export interface Caller {
  readonly principal: Principal | undefined;
  /** The rate limit headers for the response. */
  readonly headers: Readonly<Record<string, string>>;
}

const caches = new WeakMap<Throttle, CredentialCache>();

/**
 * Authenticates the caller and counts the request against the caller's limit. If the credentials are not in the cache,
 * the request also counts against the limit of the network address. Checks the limit before looking up credentials, so
 * that rejecting excess requests is cheap.
 *
 * @param onCaller called first with only the rate limit headers, and again once the caller is known. An error can
 *   follow either call
 * @throws {ApiError} 40101 without valid credentials, 42901 beyond the limit
 */
export async function identifyCaller(
  { authenticate, rateLimit }: AccessControl,
  request: ApiRequest,
  onCaller: (caller: Caller) => void,
): Promise<Principal | undefined> {
  const cache = rateLimit && credentialCacheOf(rateLimit);
  const likely = authenticate && cache?.callerOf(request);
  const headers = count(rateLimit, likely ?? addressKey(request), (counted) =>
    onCaller({ principal: undefined, headers: counted }),
  );
  try {
    const principal = await authenticateWith(authenticate, request);
    if (principal === undefined) return undefined;
    if (principal.name === likely) onCaller({ principal, headers });
    else count(rateLimit, principal.name, (counted) => onCaller({ principal, headers: counted }));
    cache?.add(request, principal.name);
    return principal;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) cache?.delete(request);
    throw error;
  }
}

/**
 * Counts a request that needs no credentials against the limit of its address.
 * @throws {ApiError} 42901 beyond the limit
 */
export function countByAddress(
  { rateLimit }: AccessControl,
  request: ApiRequest,
  onCaller: (caller: Caller) => void,
): void {
  count(rateLimit, addressKey(request), (headers) => onCaller({ principal: undefined, headers }));
}

/**
 * Counts a request against the limit of a caller and returns the rate limit headers.
 * @throws {ApiError} 42901 beyond the limit, after calling `onHeaders`
 */
function count(
  rateLimit: Throttle | undefined,
  caller: string,
  onHeaders: (headers: Caller['headers']) => void,
): Caller['headers'] {
  if (rateLimit === undefined) {
    onHeaders({});
    return {};
  }
  const attempt = rateLimit.take(caller);
  const headers = rateLimitHeaders(rateLimit.policy, attempt);
  onHeaders(headers);
  if (!attempt.isAllowed) throw tooManyRequests(Math.max(1, Math.ceil(attempt.waitMs / 1_000)));
  return headers;
}

/** Returns the headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
function rateLimitHeaders({ perSecond, burst }: ThrottlePolicy, attempt: Attempt): Caller['headers'] {
  return {
    'ratelimit-policy': `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
    ratelimit: `"default";r=${attempt.remaining};t=${Math.ceil(attempt.fullMs / 1_000)}`,
  };
}

/**
 * Returns the rate limit key of an address, for IPv6 of its network. Requests with credentials have a separate key, so that guessing credentials
 * does not lock out anonymous callers at the same address.
 */
function addressKey({ address, headers }: ApiRequest): string {
  const credentials = headers['authorization'] ?? headers['x-api-key'];
  const network = networkOf(address);
  return credentials === undefined ? `address ${network}` : `unknown credentials from ${network}`;
}

function credentialCacheOf(rateLimit: Throttle): CredentialCache {
  const cache = caches.get(rateLimit) ?? new CredentialCache();
  caches.set(rateLimit, cache);
  return cache;
}

function tooManyRequests(seconds: number): ApiError {
  return apiError(42901, `Too many requests; the next one is possible in ${seconds} s`, {
    'retry-after': String(seconds),
  });
}

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
function challenge(parameters: Readonly<Record<string, string>> = {}): string {
  const members = Object.entries({ realm: 'api', ...parameters });
  return `Bearer ${members.map(([name, value]) => `${name}="${value}"`).join(', ')}`;
}

const cacheSize = 10_000;

/**
 * Remembers which caller used which credentials. A caller beyond the rate limit can then be rejected without looking up
 * the credentials. Only digests are kept. An entry does not prove that the credentials are still valid.
 */
class CredentialCache {
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
  const credentials = JSON.stringify([headers['authorization'], headers['x-api-key']]);
  return createHash('sha256').update(credentials).digest('base64');
}

/** Returns the name under which limits and quotas count a caller: the principal's, or the network of the address. */
export function callerOf({ address }: Pick<ApiRequest, 'address'>, principal: Principal | undefined): string {
  return principal?.name ?? `address ${networkOf(address)}`;
}

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
  const scopes = principal.scopes.join(', ') || 'none';
  throw apiError(40301, `This needs the scope "${scope}"; these credentials have ${scopes}`, {
    'www-authenticate': challenge({ error: 'insufficient_scope', scope }),
  });
}

export function isAdmin(principal: Principal | undefined): boolean {
  return principal?.scopes.includes('admin') ?? false;
}
