/** A limit for each client, as a token bucket. */
export interface ThrottlePolicy {
  /** Sustained number of attempts per second; above 0. */
  readonly perSecond: number;
  /** Number of attempts that a client has after a pause; at least 1. */
  readonly burst: number;
}

/** The state of a client's bucket after an attempt. */
export interface Attempt {
  readonly isAllowed: boolean;
  /** Number of further attempts that are possible now. */
  readonly remaining: number;
  /** Milliseconds until the next attempt is possible; 0 if one is possible now. */
  readonly waitMs: number;
  /** Milliseconds until the bucket is full again. */
  readonly fullMs: number;
}

interface Bucket {
  readonly tokens: number;
  readonly at: number;
}

/**
 * Maximum number of clients that are remembered. Beyond it, the client that has been idle longest is forgotten, and
 * starts with a full bucket when it returns.
 */
const maxClients = 10_000;

/**
 * Limits how often each client may try something: send a request, or guess a password or a key. Each process counts on
 * its own, so `n` processes allow `n` times as many attempts.
 */
export class Throttle {
  readonly policy: ThrottlePolicy;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #buckets = new Map<string, Bucket>();
  #refused = 0;

  /** @param now returns milliseconds; by default, of a monotonic clock */
  constructor(policy: ThrottlePolicy, now: () => number = () => performance.now()) {
    this.policy = policy;
    this.#now = now;
  }

  /** Number of attempts that were refused. */
  get refused(): number {
    return this.#refused;
  }

  /** Counts an attempt, if one is possible. */
  take(client: string): Attempt {
    const bucket = this.#bucketOf(client);
    const isAllowed = bucket.tokens >= 1;
    if (!isAllowed) this.#refused += 1;
    const left = isAllowed ? { ...bucket, tokens: bucket.tokens - 1 } : bucket;
    this.#buckets.delete(client); // set again, so that the map is sorted by last use
    this.#buckets.set(client, left);
    const [idlest] = this.#buckets.keys();
    if (this.#buckets.size > maxClients && idlest !== undefined) this.#buckets.delete(idlest);
    return { isAllowed, ...this.#stateOf(left) };
  }

  /** Returns the time until the client's next attempt is possible, in milliseconds, without counting one. */
  waitMs(client: string): number {
    return this.#stateOf(this.#bucketOf(client)).waitMs;
  }

  #bucketOf(client: string): Bucket {
    const { perSecond, burst } = this.policy;
    const at = this.#now();
    const bucket = this.#buckets.get(client);
    const tokens = bucket === undefined ? burst : bucket.tokens + ((at - bucket.at) / 1_000) * perSecond;
    return { tokens: Math.min(burst, tokens), at };
  }

  #stateOf({ tokens }: Bucket): Omit<Attempt, 'isAllowed'> {
    const msUntil = (wanted: number): number =>
      Math.max(0, Math.ceil(((wanted - tokens) / this.policy.perSecond) * 1_000));
    return { remaining: Math.floor(tokens), waitMs: msUntil(1), fullMs: msUntil(this.policy.burst) };
  }
}
