/**
 * Number of buckets per doubling of the duration. Each bucket's upper bound is 19 % above its lower bound, so
 * percentiles are off by at most 19 %. The exceptions are bucket 0, which starts at 0, and the last bucket, which has
 * no upper bound.
 */
const perDoubling = 4;

/** Number of buckets. The last one counts all durations of at least 2^31.5 ms (35 days). */
export const durationBuckets = 128;

/**
 * Counts durations in buckets on a logarithmic scale. Memory use does not depend on the number of durations. Bucket 0
 * counts durations below a millisecond. Bucket `n` counts durations from 2^((n−1)/4) ms to 2^(n/4) ms; the last one also
 * counts all longer durations.
 */
export class DurationHistogram {
  readonly #counts: number[] = [];
  #total = 0;
  #sumMs = 0;

  /** Number of durations counted. */
  get total(): number {
    return this.#total;
  }

  /** Sum of all durations counted, in milliseconds. */
  get sumMs(): number {
    return this.#sumMs;
  }

  /** @param ms the duration to count; negative values, such as after a clock change, count as 0 */
  add(ms: number): void {
    const bucket = bucketOf(ms);
    for (let next = this.#counts.length; next <= bucket; next++) this.#counts.push(0);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
    if (ms > 0) this.#sumMs += ms;
  }

  /**
   * Adds durations that were counted elsewhere.
   *
   * @param counts the number of durations in each bucket, starting with bucket `first`
   * @param sumMs the sum of these durations, in milliseconds
   */
  addCounts(first: number, counts: readonly number[], sumMs: number): void {
    const last = Math.min(durationBuckets, first + counts.length);
    for (let next = this.#counts.length; next < last; next++) this.#counts.push(0);
    for (const [index, count] of counts.slice(0, last - first).entries()) {
      this.#counts[first + index] = (this.#counts[first + index] ?? 0) + count;
      this.#total += count;
    }
    this.#sumMs += sumMs;
  }

  merge(other: DurationHistogram): void {
    this.addCounts(0, other.#counts, other.#sumMs);
  }

  /**
   * Returns the counts of all buckets from the first non-empty one, and the index of that bucket. If nothing has been
   * counted, returns index 0 and an empty list.
   */
  counts(): { first: number; counts: number[] } {
    const first = this.#counts.findIndex((count) => count > 0);
    return first === -1 ? { first: 0, counts: [] } : { first, counts: this.#counts.slice(first) };
  }

  /** Estimates the standard deviation in milliseconds, rather too high than too low; 0 if nothing has been counted. */
  deviationMs(): number {
    if (this.#total === 0) return 0;
    const mean = this.#sumMs / this.#total;
    const squares = this.#counts.reduce((sum, count, bucket) => {
      const furthest = Math.max(Math.abs(lowerMs(bucket) - mean), Math.abs(lowerMs(bucket + 1) - mean));
      return sum + count * furthest ** 2;
    }, 0);
    return Math.sqrt(squares / this.#total);
  }

  /** Estimates how many durations are at most `ms` long. Interpolates within the bucket that contains `ms`. */
  atMost(ms: number): number {
    const bucket = bucketOf(ms);
    const below = this.#counts.slice(0, bucket).reduce((sum, count) => sum + count, 0);
    const [from, to] = [lowerMs(bucket), lowerMs(bucket + 1)];
    const share = Math.min(1, (ms - from) / (to - from)); // the last bucket has no upper bound
    return below + Math.round((this.#counts[bucket] ?? 0) * share);
  }

  /**
   * Estimates the duration, in milliseconds, that the given share of all durations does not exceed. Returns `null` if
   * nothing has been counted. Interpolates within a bucket, but not within the last one: durations of 35 days or more
   * count as 35 days.
   *
   * @param share from 0 to 1, such as 0.95
   */
  percentile(share: number): number | null {
    if (this.#total === 0) return null;
    const rank = share * this.#total;
    let below = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const from = lowerMs(bucket);
        const to = bucket === durationBuckets - 1 ? from : lowerMs(bucket + 1);
        return from + ((to - from) * Math.max(0, rank - below)) / count;
      }
      below += count;
    }
    return lowerMs(this.#counts.length);
  }
}

function bucketOf(ms: number): number {
  if (!(ms >= 1)) return 0;
  return Math.min(durationBuckets - 1, 1 + Math.floor(perDoubling * Math.log2(ms)));
}

function lowerMs(bucket: number): number {
  return bucket === 0 ? 0 : 2 ** ((bucket - 1) / perDoubling);
}
