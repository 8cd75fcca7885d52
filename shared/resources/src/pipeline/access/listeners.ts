import type { Principal } from '../../definition/call-context.js';
import { apiError } from '../../errors/api-error.js';
import { callerOf } from './caller.js';
import type { ApiRequest } from '../request/request.js';

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
