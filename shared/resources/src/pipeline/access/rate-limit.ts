/** How many requests a caller may send. */
export interface RateLimitPolicy {
  /** On the long run; above 0. */
  readonly perSecond: number;
  /** At once, after a pause; at least 1. */
  readonly burst: number;
}

/** What came of one request. */
export interface Allowance {
  /** `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly headers: Readonly<Record<string, string>>;
  /** After so many seconds the next request is possible; undefined if this one is. */
  readonly retryAfterSeconds: number | undefined;
}

export interface RateLimit {
  readonly policy: RateLimitPolicy;
  /** Counts one request of a caller. */
  take(caller: string): Allowance;
}

interface Bucket {
  tokens: number;
  at: number;
}

/** So many callers are remembered; the one that has been silent longest is forgotten, which is to its advantage. */
const remembered = 10_000;

/**
 * A token bucket for each caller, in this process: `n` processes behind a balancer allow `n` times as much.
 * @param now in milliseconds, never going back
 */
export function createRateLimit(
  policy: RateLimitPolicy,
  now: () => number = () => performance.now(),
): RateLimit {
  const { perSecond, burst } = policy;
  const buckets = new Map<string, Bucket>();

  const bucketOf = (caller: string): Bucket => {
    const at = now();
    const known = buckets.get(caller);
    buckets.delete(caller); // and set again: the first of the map is the one that has been silent longest
    const refilled = known === undefined ? burst : known.tokens + ((at - known.at) / 1000) * perSecond;
    const bucket = { tokens: Math.min(burst, refilled), at };
    buckets.set(caller, bucket);
    const [silent] = buckets.keys();
    if (buckets.size > remembered && silent !== undefined) buckets.delete(silent);
    return bucket;
  };

  const secondsUntil = (tokens: number, bucket: Bucket): number =>
    Math.ceil((tokens - bucket.tokens) / perSecond);

  return {
    policy,
    take(caller) {
      const bucket = bucketOf(caller);
      const allowed = bucket.tokens >= 1;
      if (allowed) bucket.tokens -= 1;
      return {
        headers: {
          'ratelimit-policy': `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
          ratelimit: `"default";r=${Math.floor(bucket.tokens)};t=${secondsUntil(burst, bucket)}`,
        },
        retryAfterSeconds: allowed ? undefined : Math.max(1, secondsUntil(1, bucket)),
      };
    },
  };
}
