import type { Bucket } from './chart.js';

/**
 * Coarse buckets, each with at least what fine ones of the same time hold: the two were read at different moments, and what
 * ended in ten minutes is never more than what ended in a day. Both are counted from 1970 on, so fine ones fit into coarse ones.
 *
 * @param coarse oldest first, evenly long; as many are given back. If the newest of the fine ones come after them, a bucket for these takes the place of the oldest
 * @param bucketMs the length of a coarse one
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
