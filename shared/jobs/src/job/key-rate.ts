import type { RateLimit } from './queue-limits.js';

/** A concurrency key with a rate, before blocked jobs become ready. */
export interface RatedKey {
  readonly rate: Required<RateLimit>;
  readonly nowMs: number;
  /**
   * When the key's bucket will be full, if no further job takes a token, in milliseconds since 1970. In the past or
   * `null` if it is full. This single time holds the state of the bucket (it is the “theoretical arrival time” of the
   * generic cell rate algorithm).
   */
  readonly fullAtMs: number | null;
  /** How many more jobs the key's concurrency limit allows to be ready or running. */
  readonly slots: number;
  /** Number of ready jobs with the key that no server has claimed yet. */
  readonly unclaimed: number;
}

/** How often a key is looked at, in milliseconds, while servers do not claim its ready jobs. */
const unclaimedRecheckMs = 1_000;

/** How long tokens are collected before a key is looked at, in milliseconds, unless its bucket is full earlier. */
const collectMs = 50;

/**
 * Returns how many blocked jobs of a key can become ready now. A job takes its token when it becomes ready. At most
 * `burst` jobs wait for a server, so that not all of them start at once after an hour without servers.
 */
export function admissible(key: RatedKey): number {
  const { rate, nowMs, slots, unclaimed } = key;
  const missing = (bucketFullAt(key) - nowMs) / msPerToken(rate);
  // Rounding errors can leave the sum just below a whole token; 1e-6 compensates for this.
  const tokens = Math.floor(rate.burst - missing + 1e-6);
  return Math.max(0, Math.min(slots, tokens, rate.burst - unclaimed));
}

/** The bucket of a key after some of its blocked jobs have become ready. */
export interface RateAdmission {
  readonly fullAtMs: number;
  /**
   * When the next blocked job can become ready, in milliseconds since 1970; `null` if it must wait until a job with the
   * key ends.
   */
  readonly nextAtMs: number | null;
}

/** @param admitted number of jobs that have become ready, at most {@link admissible} */
export function afterAdmission(key: RatedKey, admitted: number): RateAdmission {
  const { rate, nowMs, slots, unclaimed } = key;
  const fullAtMs = bucketFullAt(key) + admitted * msPerToken(rate);
  if (slots - admitted <= 0) return { fullAtMs, nextAtMs: null };
  if (unclaimed >= rate.burst)
    return { fullAtMs, nextAtMs: nowMs + Math.max(unclaimedRecheckMs, msPerToken(rate)) };
  const tokenAtMs = Math.max(nowMs, fullAtMs - (rate.burst - 1) * msPerToken(rate));
  return { fullAtMs, nextAtMs: Math.max(tokenAtMs, Math.min(fullAtMs, nowMs + collectMs)) };
}

/** Returns when the bucket will be full; no later than an empty bucket, because the rate may have been another. */
function bucketFullAt({ rate, nowMs, fullAtMs }: RatedKey): number {
  return Math.min(Math.max(fullAtMs ?? nowMs, nowMs), nowMs + rate.burst * msPerToken(rate));
}

function msPerToken({ jobs, periodMs }: RateLimit): number {
  return periodMs / jobs;
}
