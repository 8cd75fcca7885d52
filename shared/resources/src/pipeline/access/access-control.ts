import { type Attempt, networkOf, type Throttle, type ThrottlePolicy } from '@longshore/edge';
import type { Principal } from '../../definition/call-context.js';
import { ApiError, apiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/request.js';
import { type Authenticate, authenticateWith, CredentialCache } from './authentication.js';

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
  const given = headers['authorization'] ?? headers['x-api-key'];
  const network = networkOf(address);
  return given === undefined ? `address ${network}` : `unknown credentials from ${network}`;
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
