import { ApiError, apiError } from '../errors/api-error.js';
import { type Authenticate, identify } from './credentials.js';
import type { RateLimit } from './rate-limit.js';
import type { ApiRequest, Principal } from './request.js';

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

/**
 * Lets a caller in. Requests count for the caller, and for its address where nobody knows who it is.
 * @param known is told the caller as soon as it is known, also before this throws
 * @throws {ApiError} 40101 without valid credentials, 42901 beyond the limit
 */
export async function admit(
  { authenticate, rateLimit }: Admission,
  request: ApiRequest,
  known: (caller: Caller) => void,
): Promise<Principal | undefined> {
  const count = (principal: Principal | undefined): void => {
    const allowance = rateLimit?.take(principal?.name ?? `address ${request.address}`);
    known({ principal, headers: allowance?.headers ?? {} });
    if (allowance?.retryAfterSeconds !== undefined) throw tooMany(allowance.retryAfterSeconds);
  };
  let principal: Principal | undefined;
  try {
    principal = await identify(authenticate, request);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) count(undefined);
    throw error;
  }
  count(principal);
  return principal;
}

function tooMany(seconds: number): ApiError {
  return apiError(42901, `Too many requests; the next one is possible in ${seconds} s`, {
    'retry-after': String(seconds),
  });
}
