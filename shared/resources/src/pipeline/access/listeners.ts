import { apiError } from '../../errors/api-error.js';
import type { ApiRequest, Principal } from '../request/request.js';

/** How many calls that stay open (streams of events and `?wait`) there may be in this process. */
export interface ListenerLimits {
  /** Of all callers together; default 10 000. */
  readonly total?: number;
  /** Of one caller: credentials, or an address where the API is open; default 1000. */
  readonly perCaller?: number;
}

/** Counts the calls that stay open, and refuses those beyond the limits. */
export class Listeners {
  readonly #most: number;
  readonly #mostPerCaller: number;
  readonly #byCaller = new Map<string, number>();
  #count = 0;

  constructor({ total = 10_000, perCaller = 1_000 }: ListenerLimits = {}) {
    this.#most = total;
    this.#mostPerCaller = perCaller;
  }

  /**
   * Counts a call until it is over.
   * @throws {ApiError} 42902 if this caller has too many open, 50303 if all callers together have
   */
  enter({ address, signal }: ApiRequest, principal: Principal | undefined): void {
    const caller = principal?.name ?? `address ${address}`;
    const open = this.#byCaller.get(caller) ?? 0;
    const retry = { 'retry-after': '5' };
    if (open >= this.#mostPerCaller)
      throw apiError(
        42902,
        `You have ${open} streams and waits open, and may have ${this.#mostPerCaller}`,
        retry,
      );
    if (this.#count >= this.#most)
      throw apiError(50303, `All ${this.#most} streams and waits that the service can hold are taken`, retry);
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
