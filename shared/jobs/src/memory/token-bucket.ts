import { maxTokens, type RateLimit } from '../job/queue-limits.js';

/** The token bucket of a queue's rate limit. Callers pass the limit to each call, because operators can change it. */
export class TokenBucket {
  #tokens = maxTokens;
  #refilledAt: number;

  constructor(nowMs: number) {
    this.#refilledAt = nowMs;
  }

  /** Refills the bucket and returns the number of whole tokens in it. */
  available(limit: RateLimit, nowMs: number): number {
    this.#refill(limit, nowMs);
    // Rounding errors can leave the sum just below a whole token; 1e-6 compensates for this.
    return Math.floor(this.#tokens + 1e-6);
  }

  take(tokens: number): void {
    this.#tokens -= tokens;
  }

  /** Returns the milliseconds from the last refill until the bucket contains a whole token; 0 if it already does. */
  nextInMs({ jobs, periodMs }: RateLimit): number {
    return Math.max(0, ((1 - this.#tokens) * periodMs) / jobs);
  }

  #refill({ jobs, periodMs, burst = jobs }: RateLimit, nowMs: number): void {
    const elapsedMs = Math.max(0, nowMs - this.#refilledAt);
    this.#tokens = Math.min(burst, this.#tokens + (elapsedMs * jobs) / periodMs);
    this.#refilledAt = nowMs;
  }
}
