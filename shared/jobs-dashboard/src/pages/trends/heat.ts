import type { TimingBucket, TimingQuery } from '@longshore/jobs/storage';
import { counted, formatNumber } from '../../format/count.js';
import { heatMapOf } from '../../format/heat-map.js';
import { formatDuration } from '../../format/time.js';

interface Column {
  readonly x: number;
  readonly width: number;
}

/** Maximum number of rows of the table. */
const MAX_ROWS = 24;

/**
 * Returns the chart of how many attempts ran how long over time, and the same as a table; `null` if none ran, and for all jobs
 * together, whose run times differ too much to show anything.
 *
 * @param groups the buckets of each column
 * @param columns where the columns are
 */
export function heatOf(
  { queue, name }: Pick<TimingQuery, 'queue' | 'name'>,
  groups: readonly (readonly TimingBucket[])[],
  columns: readonly Column[],
): object | null {
  if (queue === undefined && name === undefined) return null;
  const map = heatMapOf(
    groups.flatMap(([first, ...later], index) => {
      const [column, timing] = [columns[index], first?.timing.copy()];
      if (column === undefined || timing === undefined) return [];
      for (const bucket of later) timing.merge(bucket.timing);
      return { ...column, durations: timing.running };
    }),
  );
  if (map === null) return null;
  const { shades, max, bounds, counts } = map;
  const words = bounds.slice(0, -1).map((from, row) => `${textOf(from)} to ${textOf(bounds[row + 1] ?? 0)}`);
  const step = Math.ceil(groups.length / MAX_ROWS);
  return {
    shades,
    max: counted(max, 'attempt'),
    labels: [bounds.at(-1) ?? 0, bounds[(bounds.length - 1) / 2] ?? 0, bounds[0] ?? 0].map(textOf),
    values: counts.map((column) => valuesText(column, words)),
    words,
    rows: groups.flatMap(([first], index) => {
      if (index % step !== 0 || first === undefined) return [];
      const part = counts.slice(index, index + step);
      return {
        at: first.at,
        cells: words.map((_word, row) =>
          formatNumber(part.reduce((sum, column) => sum + (column[row] ?? 0), 0)),
        ),
      };
    }),
  };
}

/** Returns the numbers of a column, longest durations first: “1 s to 3 s: 2, 300 ms to 1 s: 40”. */
function valuesText(column: readonly number[], words: readonly string[]): string {
  const parts = column.flatMap((count, row) => (count === 0 ? [] : `${words[row]}: ${formatNumber(count)}`));
  return parts.length === 0 ? '–' : parts.toReversed().join(', ');
}

function textOf(ms: number): string {
  return ms === 0 ? '0' : formatDuration(ms).replace('.0 s', ' s');
}
