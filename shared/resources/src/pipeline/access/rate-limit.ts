/** The rate limit of each caller, as a token bucket. */
export interface RateLimitPolicy {
  /** Sustained requests per second; above 0. */
  readonly perSecond: number;
  /** Size of the bucket, in requests; at least 1. */
  readonly burst: number;
}

/** The result of counting one request. */
export interface Allowance {
  /** The headers `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10). */
  readonly headers: Readonly<Record<string, string>>;
  /** Seconds until the next request is possible; undefined if the counted request is allowed. */
  readonly retryAfterSeconds: number | undefined;
}

export interface RateLimit {
  readonly policy: RateLimitPolicy;
  /** Counts one request against the limit of the caller. */
  take(caller: string): Allowance;
}

interface Bucket {
  tokens: number;
  at: number;
}

/**
 * Maximum number of buckets. Beyond it, the bucket that has been idle longest is removed. The caller of that bucket
 * then starts with a full bucket.
 */
const maxBuckets = 10_000;

/**
 * Creates a rate limit with a token bucket for each caller. Each process has its own buckets, so `n` processes allow
 * `n` times as many requests.
 *
 * @param now returns the time of a monotonic clock, in milliseconds
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
    buckets.delete(caller); // set again below, so that the map is sorted by last use
    const refilled = known === undefined ? burst : known.tokens + ((at - known.at) / 1000) * perSecond;
    const bucket = { tokens: Math.min(burst, refilled), at };
    buckets.set(caller, bucket);
    const [idlest] = buckets.keys();
    if (buckets.size > maxBuckets && idlest !== undefined) buckets.delete(idlest);
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
