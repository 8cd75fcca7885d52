import { compareTexts, shorten } from '@longshore/edge';
import { errorFingerprint, redact, type Shown } from '@longshore/jobs/storage';
import { searchHistory } from '../reading/job-search.js';
import {
  type Dimension,
  filterQuery,
  type Filters,
  hiddenTermError,
  isTermKey,
  jobsPath,
  type Term,
  termError,
} from '../search/filters.js';
import type { PageContext, Region } from '../shell/page.js';

/** Maximum number of matching jobs to examine for a breakdown, newest first. */
const EXAMINED = 1_000;
const MAX_VALUES = 20;
const MAX_TEXT = 200;

const dimensions: readonly Dimension[] = [
  { key: 'name', word: 'Type', valuesOf: ({ name }) => [name], termOf: (value) => ({ key: 'name', value }) },
  {
    key: 'queue',
    word: 'Queue',
    valuesOf: ({ queue }) => [queue],
    termOf: (value) => ({ key: 'queue', value }),
  },
  {
    key: 'error',
    word: 'Error',
    valuesOf: ({ error }) => (error === null ? [] : [errorFingerprint(error)]),
    termOf: (value) => ({ key: 'fingerprint', value }),
  },
  { key: 'tag', word: 'Tag', valuesOf: ({ tags }) => tags, termOf: (value) => ({ key: 'tag', value }) },
  {
    key: 'key',
    word: 'Key',
    valuesOf: ({ concurrencyKey }) => (concurrencyKey === null ? [] : [concurrencyKey]),
    termOf: (value) => ({ key: 'key', value }),
  },
  {
    key: 'server',
    word: 'Server',
    valuesOf: ({ serverId }) => (serverId === null ? [] : [serverId]),
    termOf: (value) => ({ key: 'server', value }),
  },
];

interface Breakdown {
  readonly key: string;
  readonly word: string;
  readonly rows: readonly { readonly value: string; readonly jobs: number; readonly path: string }[];
  /** Number of jobs examined. `without` is the number of these jobs that have no value. */
  readonly examined: number;
  readonly without: number;
  /** Number of values that are omitted from `rows`. */
  readonly moreValues: number;
  /** Whether there might be matching jobs that were not examined. */
  readonly isSample: boolean;
}

/**
 * Returns a link for each property to break the list down by. The link for the current property removes the breakdown.
 */
export function breakdownLinks(filters: Filters, by: string | null): object[] {
  return dimensions.map(({ key, word }) => ({
    word,
    path: jobsPath(filters, key === by ? {} : { by: key }),
    current: key === by,
  }));
}

/**
 * Creates the region that breaks the matching jobs down by `by`: a property such as `queue`, or a path such as
 * `args.order.id`. Returns `null` if there is no such property, or if the values at the path are redacted.
 */
export function breakdownRegion(filters: Filters, by: string, context: PageContext): Region | null {
  const dimension = dimensionOf(by, context.redact);
  if (dimension === null) return null;
  return {
    name: 'breakdown',
    view: 'jobs-breakdown',
    everyMs: 5_000,
    load: async () => {
      const counting = await context.cache.readSoon(`breakdown ${jobsPath(filters, { by })}`, () =>
        breakDown(filters, dimension, context),
      );
      return { breakdown: counting?.value ?? null, word: dimension.word, partial: counting === undefined };
    },
  };
}

/** Returns a property or a path in the arguments; `null` if there is none, or if the values at the path are redacted. */
export function dimensionOf(by: string, redact: RegExp): Dimension | null {
  return dimensions.find(({ key }) => key === by) ?? argumentAt(by, redact);
}

async function breakDown(
  filters: Filters,
  { key, word, valuesOf, termOf }: Dimension,
  { reader, now, redact: pattern }: PageContext,
): Promise<Breakdown> {
  const reading = { nowMs: now(), redact: pattern };
  const query = { filter: filterQuery(filters, reading), order: 'newest', limit: EXAMINED + 1 } as const;
  const history = await searchHistory(query, reader);
  const jobs = history ?? (await reader.jobs.listBrief({ ...query, reach: 'near' })).jobs;
  const examined = jobs.slice(0, EXAMINED);
  const counts = new Map<string, number>();
  let without = 0;
  for (const job of examined) {
    const values = new Set(valuesOf(job));
    if (values.size === 0) without++;
    for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const sorted = [...counts].toSorted(
    ([one, many], [other, more]) => more - many || compareTexts(one, other),
  );
  return {
    key,
    word,
    rows: sorted.slice(0, MAX_VALUES).map(([value, count]) => ({
      value: shorten(value, MAX_TEXT, '…'),
      jobs: count,
      path: jobsPath({
        ...filters,
        terms: [...filters.terms.filter((term) => term.key !== termOf(value).key), termOf(value)],
      }),
    })),
    examined: examined.length,
    without,
    moreValues: Math.max(0, sorted.length - MAX_VALUES),
    isSample: history === null || jobs.length > EXAMINED,
  };
}

/** Returns the dimension for a path in the arguments; `null` if the path is invalid or its values are redacted. */
function argumentAt(path: string, pattern: RegExp): Dimension | null {
  if (!path.startsWith('args.') || !isTermKey(path)) return null;
  const term: Term = { key: path, value: '0' };
  if (termError(term) !== null || hiddenTermError([term], pattern) !== null) return null;
  const segments = path.split('.').slice(1);
  return {
    key: path,
    word: path,
    valuesOf: ({ args }) => {
      const value = valueAt(redact(args, pattern), segments);
      return value === null ? [] : [value];
    },
    termOf: (value) => ({ key: path, value }),
  };
}

/** Returns the string, number or boolean at a path, as text; `null` if there is no such value. */
function valueAt(args: Shown, segments: readonly string[]): string | null {
  let value: Shown | undefined = args;
  for (const segment of segments) {
    if (typeof value !== 'object' || value === null) return null;
    if (!Object.hasOwn(value, segment)) return null;
    value = (value as Record<string, Shown>)[segment];
  }
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : null;
}
