import type { Bucket } from './chart.js';

/**
 * Raises each coarse bucket to at least the sum of the fine buckets in its period. Coarse and fine buckets are read at
 * different times, but the chart of the last ten minutes must never show more jobs than the chart of the whole day.
 * Both kinds of buckets are aligned to 1970, so each fine bucket fits into one coarse bucket.
 *
 * @param coarse oldest first, each `bucketMs` long
 * @param bucketMs the length of a coarse bucket, in milliseconds
 * @returns as many buckets as `coarse` has. If fine buckets are newer than the last coarse bucket, adds coarse buckets
 *   for them, and removes the same number of the oldest buckets
 */
export function withFiner(coarse: readonly Bucket[], fine: readonly Bucket[], bucketMs: number): Bucket[] {
  const least = new Map<number, { done: number; failed: number }>();
  for (const { at, done, failed } of fine) {
    const start = Math.floor(at.getTime() / bucketMs) * bucketMs;
    const sum = least.get(start) ?? { done: 0, failed: 0 };
    least.set(start, { done: sum.done + done, failed: sum.failed + failed });
  }
  const newest = coarse.at(-1)?.at.getTime() ?? 0;
  const later = [...least.keys()].filter((start) => start > newest);
  const all = [...coarse, ...later.map((start) => ({ at: new Date(start), done: 0, failed: 0 }))];
  return all.slice(later.length).map(({ at, done, failed }) => {
    const known = least.get(at.getTime());
    return { at, done: Math.max(done, known?.done ?? 0), failed: Math.max(failed, known?.failed ?? 0) };
  });
}
