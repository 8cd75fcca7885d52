/** Buckets per doubling: neighbouring bounds are 19 % apart, so a percentile is off by at most 10 %. */
const perDoubling = 4;

/** The number of buckets. The last one holds everything from 32 days on. */
export const durationBuckets = 128;

/**
 * Counts durations in buckets on a logarithmic scale, in constant space. Bucket 0 holds durations below a millisecond; bucket
 * `n` holds those from 2^((n−1)/4) ms to 2^(n/4) ms.
 */
export class DurationHistogram {
  readonly #counts: number[] = [];
  #total = 0;
  #sumMs = 0;

  /** The number of durations. */
  get total(): number {
    return this.#total;
  }

  /** The sum of all durations in milliseconds. */
  get sumMs(): number {
    return this.#sumMs;
  }

  /** @param ms a duration in milliseconds; a negative one, which a changed clock can cause, counts as 0 */
  add(ms: number): void {
    const bucket = bucketOf(ms);
    for (let next = this.#counts.length; next <= bucket; next++) this.#counts.push(0);
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#total++;
    if (ms > 0) this.#sumMs += ms;
  }

  /** @param counts the number of durations in each bucket, starting with bucket `first` */
  addCounts(first: number, counts: readonly number[], sumMs: number): void {
    const last = Math.min(durationBuckets, first + counts.length);
    for (let next = this.#counts.length; next < last; next++) this.#counts.push(0);
    for (const [place, count] of counts.slice(0, last - first).entries()) {
      this.#counts[first + place] = (this.#counts[first + place] ?? 0) + count;
      this.#total += count;
    }
    this.#sumMs += sumMs;
  }

  merge(other: DurationHistogram): void {
    this.addCounts(0, other.#counts, other.#sumMs);
  }

  /** Returns the number of the first bucket that is not empty, and the counts from there to the last such bucket. */
  counts(): { first: number; counts: number[] } {
    const first = this.#counts.findIndex((count) => count > 0);
    return first === -1 ? { first: 0, counts: [] } : { first, counts: this.#counts.slice(first) };
  }

  /** Returns how many durations are at most `ms`. Exact if `ms` is a bound of a bucket, interpolated otherwise. */
  atMost(ms: number): number {
    const bucket = bucketOf(ms);
    const below = this.#counts.slice(0, bucket).reduce((sum, count) => sum + count, 0);
    const [from, to] = [lowerMs(bucket), lowerMs(bucket + 1)];
    return below + Math.round(((this.#counts[bucket] ?? 0) * (ms - from)) / (to - from));
  }

  /**
   * Returns the duration in milliseconds that the given share of all durations does not exceed, or `null` if there are none.
   *
   * @param share from 0 to 1, such as 0.95
   */
  percentile(share: number): number | null {
    if (this.#total === 0) return null;
    const rank = share * this.#total;
    let below = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      if (count > 0 && below + count >= rank) {
        const [from, to] = [lowerMs(bucket), lowerMs(bucket + 1)];
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
