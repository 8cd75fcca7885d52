import { ApiError, apiError } from '../../errors/api-error.js';
import { type Authenticate, identify } from './authentication.js';
import { KnownCredentials } from './known-credentials.js';
import type { Allowance, RateLimit } from './rate-limit.js';
import type { ApiRequest, Principal } from '../request/request.js';

/** Who may call, and how often. */
export interface Admission {
  /** undefined: the API is open to all. */
  readonly authenticate: Authenticate | undefined;
  /** undefined: as often as it likes. */
  readonly rateLimit: RateLimit | undefined;
  /** How often it is looked whether a listener may still listen, in milliseconds; default 30 000. */
  readonly recheckMs?: number | undefined;
}

/** What is known of the caller, whatever becomes of its request. */
export interface Caller {
  readonly principal: Principal | undefined;
  /** Headers for its answer. */
  readonly headers: Readonly<Record<string, string>>;
}

const known = new WeakMap<RateLimit, KnownCredentials>();

/**
 * Lets a caller in. Requests count for the caller; where it is not known who that is, for the address, and before anybody is
 * asked: a request beyond the limit costs no look-up.
 * @param onCaller gets the caller as soon as it is known, also before this throws
 * @throws {ApiError} 40101 without valid credentials, 42901 beyond the limit
 */
export async function admit(
  { authenticate, rateLimit }: Admission,
  request: ApiRequest,
  onCaller: (caller: Caller) => void,
): Promise<Principal | undefined> {
  const callers = rateLimit && credentialsOf(rateLimit);
  const likely = authenticate && callers?.callerOf(request);
  const headers = count(rateLimit, likely ?? placeOf(request), (counted) =>
    onCaller({ principal: undefined, headers: counted }),
  );
  try {
    const principal = await identify(authenticate, request);
    if (principal === undefined) return undefined;
    if (principal.name === likely) onCaller({ principal, headers });
    else count(rateLimit, principal.name, (counted) => onCaller({ principal, headers: counted }));
    callers?.learn(request, principal.name);
    return principal;
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) callers?.forget(request);
    throw error;
  }
}

/**
 * Counts a request that needs no credentials for its address.
 * @throws {ApiError} 42901 beyond the limit
 */
export function countByAddress(
  { rateLimit }: Admission,
  request: ApiRequest,
  onCaller: (caller: Caller) => void,
): void {
  count(rateLimit, placeOf(request), (headers) => onCaller({ principal: undefined, headers }));
}

/** @throws {ApiError} 42901 beyond the limit, after the headers for the answer are known */
function count(
  rateLimit: RateLimit | undefined,
  caller: string,
  onHeaders: (headers: Allowance['headers']) => void,
): Allowance['headers'] {
  const { headers, retryAfterSeconds } = rateLimit?.take(caller) ?? unlimited;
  onHeaders(headers);
  if (retryAfterSeconds !== undefined) throw tooMany(retryAfterSeconds);
  return headers;
}

const unlimited: Allowance = { headers: {}, retryAfterSeconds: undefined };

/** Those who try credentials take nothing away from those who send none. */
function placeOf({ address, headers }: ApiRequest): string {
  const given = headers['authorization'] ?? headers['x-api-key'];
  return given === undefined ? `address ${address}` : `unknown credentials from ${address}`;
}

function credentialsOf(rateLimit: RateLimit): KnownCredentials {
  const callers = known.get(rateLimit) ?? new KnownCredentials();
  known.set(rateLimit, callers);
  return callers;
}

function tooMany(seconds: number): ApiError {
  return apiError(42901, `Too many requests; the next one is possible in ${seconds} s`, {
    'retry-after': String(seconds),
  });
}
