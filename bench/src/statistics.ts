/**
 * Returns a percentile by nearest rank.
 *
 * @param share the percentile as a fraction, such as 0.5 for the median
 * @throws {RangeError} if `values` is empty
 */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
  if (value === undefined) throw new RangeError('No values, no percentile');
  return value;
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

export function perSecond(count: number, elapsedMs: number): number {
  return (count / elapsedMs) * 1_000;
}
