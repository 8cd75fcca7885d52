import type { Principal } from '../../definition/context.js';
import { apiError, ApiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request.js';
import { type Authenticate, authenticateWith, callerOf, requireScope } from './access-control.js';

/** Limits, per process, for calls that stay open: event streams and `?wait`. */
export interface ListenerLimits {
  /** For all callers together; default 10,000. */
  readonly total?: number;
  /** For each caller, or for each network address if the API needs no credentials; default 1000. */
  readonly perCaller?: number;
}

/** Counts open event streams and `?wait` calls, and rejects calls beyond the limits. */
export class Listeners {
  readonly #total: number;
  readonly #perCaller: number;
  readonly #byCaller = new Map<string, number>();
  #count = 0;

  constructor({ total = 10_000, perCaller = 1_000 }: ListenerLimits = {}) {
    this.#total = total;
    this.#perCaller = perCaller;
  }

  /**
   * Counts a call as open until the request's signal aborts.
   * @throws {ApiError} 42902 beyond the limit of the caller, 50303 beyond the total
   */
  enter({ address, signal }: ApiRequest, principal: Principal | undefined): void {
    const caller = callerOf({ address }, principal);
    const open = this.#byCaller.get(caller) ?? 0;
    const retry = { 'retry-after': '5' };
    if (open >= this.#perCaller)
      throw apiError(
        42902,
        `You have ${open} streams and waits open; the limit is ${this.#perCaller}`,
        retry,
      );
    if (this.#count >= this.#total)
      throw apiError(50303, `All ${this.#total} streams and waits of the service are in use`, retry);
    if (signal.aborted) return;
    this.#byCaller.set(caller, open + 1);
    this.#count += 1;
    signal.addEventListener('abort', () => this.#leave(caller), { once: true });
  }

  #leave(caller: string): void {
    this.#count -= 1;
    const open = (this.#byCaller.get(caller) ?? 1) - 1;
    if (open > 0) this.#byCaller.set(caller, open);
    else this.#byCaller.delete(caller);
  }
}

const defaultRecheckMs = 30_000;

/** The caller's access when the event stream was opened, and how to check that access again. */
interface StreamGrant {
  readonly authenticate: Authenticate;
  readonly principal: Principal | undefined;
  /** The scope that the stream requires. */
  readonly scope: string;
  /** Interval between checks, in milliseconds; default 30,000. */
  readonly recheckMs?: number | undefined;
}

/**
 * Returns the signal that ends an event stream. The signal aborts when the request is aborted, the caller loses access,
 * or the caller's row scope changes. If the check itself fails, for example in an outage, the stream stays open.
 */
export function abortOnRevocation(request: ApiRequest, grant: StreamGrant): AbortSignal {
  const { authenticate, principal, scope, recheckMs = defaultRecheckMs } = grant;
  const revocation = new AbortController();
  const recheck = async (): Promise<void> => {
    try {
      const current = await authenticateWith(authenticate, request);
      requireScope(current, scope);
      if (!haveSameRowScope(current, principal)) revocation.abort();
    } catch (error) {
      if (error instanceof ApiError && error.status < 500) revocation.abort();
    }
  };
  const timer = setInterval(() => void recheck(), recheckMs).unref();
  revocation.signal.addEventListener('abort', () => clearInterval(timer), { once: true });

  if (request.signal.aborted) revocation.abort();
  else request.signal.addEventListener('abort', () => revocation.abort(), { once: true });
  return revocation.signal;
}

function haveSameRowScope(one: Principal | undefined, other: Principal | undefined): boolean {
  return JSON.stringify(one?.rowScope) === JSON.stringify(other?.rowScope);
}
