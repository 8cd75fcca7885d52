export interface Tally {
  readonly value: string;
  readonly count: number;
}

/** Returns how often each value occurs, most frequent first. */
export function tally(values: readonly string[]): Tally[] {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Array.from(counts, ([value, count]) => ({ value, count })).toSorted((a, b) => b.count - a.count);
}
