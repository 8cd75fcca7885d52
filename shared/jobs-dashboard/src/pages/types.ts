import { compareTexts } from '@longshore/edge';
import { type NameTiming, otherNames } from '@longshore/jobs/storage';
import { soon } from '../cache/deadline.js';
import { pauseText } from '../diagnosis/pause.js';
import { shareOf } from '../diagnosis/share.js';
import { type FailingType, findTypeHealth, type SlowType } from '../diagnosis/type-health.js';
import { type Sparkline, sparklineOf } from '../format/chart.js';
import { formatNumber, formatShare } from '../format/count.js';
import type { Sentence } from '../format/sentence.js';
import type { Page, PageContext, PageRequest } from '../shell/page.js';
import { pageOf } from './list-page.js';

const HOUR = 3_600_000;
/** The length of a bar of a small chart, in milliseconds. */
const COURSE_MS = 300_000;

const ROWS = 50;
const MAX_NAMES = 200;
/** The list shows this percentile of the durations. */
const SHARE = 0.95;
/** The usual duration is also shown if the recent one is at least this many times as long. */
const SLOWER = 2;

const spans = [
  { key: '1h', word: '1 hour', ms: 3_600_000 },
  { key: '24h', word: '24 hours', ms: 86_400_000 },
] as const;

interface TypeRow {
  readonly name: string;
  /** Whether the row combines jobs with many different names. Such a row has no page. */
  readonly isOthers: boolean;
  readonly paused: Sentence | null;
  readonly ended: number;
  readonly failed: number;
  /** The share of failed attempts, such as `0.4 %`; `null` if none failed. */
  readonly failedShare: string | null;
  readonly waitingMs: number | null;
  readonly runningMs: number | null;
  /**
   * The 95th percentiles over the last 24 hours, for comparison. Each is `null` unless the value of the shown period is
   * at least twice as high.
   */
  readonly usualWaitingMs: number | null;
  readonly usualRunningMs: number | null;
  /** How its failures or durations differ from its baseline; `null` if they are as usual. */
  readonly change: Change | null;
  /** The outcomes in the last hour; `null` if they were not read. */
  readonly course: Sparkline | null;
}

/** Something about a job type that diagnosis finds unusual. */
interface Change {
  /** Such as `65 % fail, before 2 %`. */
  readonly text: string;
  /** How many times as much as before. */
  readonly ratio: number;
}

/** The values that the list can be sorted by. The highest value always comes first, and more attempts of equal ones. */
const sorts = {
  change: ({ change }: TypeRow) => change?.ratio ?? 0,
  ended: ({ ended }: TypeRow) => ended,
  failed: ({ failed }: TypeRow) => failed,
  waiting: ({ waitingMs }: TypeRow) => waitingMs ?? -1,
  running: ({ runningMs }: TypeRow) => runningMs ?? -1,
} as const;

type Sort = keyof typeof sorts;

/** Creates the list of the job types that ran recently or are paused. */
export async function typesPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const span = spans.find(({ key }) => key === query.get('since')) ?? spans[0];
  const wanted = query.get('sort') ?? 'change';
  const sort: Sort = Object.hasOwn(sorts, wanted) ? (wanted as Sort) : 'change';
  const path = (since: string, by: Sort): string => `types?since=${since}&sort=${by}`;
  return {
    title: 'Job types',
    section: 'types',
    view: 'types',
    data: {
      spans: spans.map(({ key, word }) => ({ word, path: path(key, sort), current: key === span.key })),
    },
    regions: [
      {
        name: 'types',
        view: 'types-list',
        everyMs: 5_000,
        load: async () => {
          const { rows, ...paging } = pageOf(await readTypes(span.ms, sort, context), query, ROWS);
          // Lists are useful without the small charts, which are added once they have been read.
          const courses = await soon(readCourses(rows, context));
          const sortPaths = Object.fromEntries(
            (Object.keys(sorts) as Sort[]).map((by) => [by, path(span.key, by)]),
          );
          const types = rows.map((row) => ({ ...row, course: courses?.get(row.name) ?? null }));
          return {
            ...paging,
            partial: courses === undefined,
            types,
            sort,
            sortPaths,
            path: path(span.key, sort),
            word: span.word,
          };
        },
      },
    ],
  };
}

/** Reads the outcomes of the last hour, in five-minute buckets, of the types on the page. */
async function readCourses(
  rows: readonly TypeRow[],
  { reader }: PageContext,
): Promise<ReadonlyMap<string, Sparkline>> {
  // Sorted, so that all orders of a list share a cached read.
  const names = rows
    .filter(({ ended }) => ended > 0)
    .map(({ name }) => name)
    .toSorted();
  if (names.length === 0) return new Map();
  const { readAt, byName } = await reader.timings.readHistories({ names });
  const last = Math.floor(readAt.getTime() / COURSE_MS);
  const places = Array.from(
    { length: HOUR / COURSE_MS },
    (_each, index) => last - HOUR / COURSE_MS + 1 + index,
  );
  return new Map(
    Array.from(byName, ([name, buckets]) => [
      name,
      sparklineOf(
        places.map((place) => {
          const within = buckets.filter(
            ({ at, bucketMs }) => bucketMs < HOUR && Math.floor(at.getTime() / COURSE_MS) === place,
          );
          return {
            at: new Date(place * COURSE_MS),
            done: within.reduce((sum, { timing }) => sum + timing.done, 0),
            failed: within.reduce((sum, { timing }) => sum + timing.failed + timing.retried, 0),
          };
        }),
      ),
    ]),
  );
}

/** Returns the largest change of each type that diagnosis finds, by name. */
function changesOf(failing: readonly FailingType[], slow: readonly SlowType[]): ReadonlyMap<string, Change> {
  const changes = new Map<string, Change>();
  const add = (name: string | null, change: Change): void => {
    if (name !== null && change.ratio > (changes.get(name)?.ratio ?? 0)) changes.set(name, change);
  };
  for (const { name, shift } of failing) {
    const { state, now, incident, baseline } = shift;
    const share = shareOf(state === 'above' || state === 'recovering' ? now : incident);
    const before = baseline === null ? null : shareOf(baseline);
    add(name, {
      text: `${formatShare(share)} of attempts fail${before === null ? '' : `, before ${formatShare(before)}`}`,
      // Without failures before, one in a thousand.
      ratio: share / Math.max(before ?? 0, 0.001),
    });
  }
  for (const { name, slowness } of slow)
    add(name, {
      text: `${slowness.kind === 'running' ? 'runs' : 'waits'} ${formatNumber(Math.round(slowness.ratio))} × longer`,
      ratio: slowness.ratio,
    });
  return changes;
}

async function readTypes(sinceMs: number, sort: Sort, { reader }: PageContext): Promise<TypeRow[]> {
  const [timed, day, paused, { failing, slow }] = await Promise.all([
    reader.timings.listNames({ sinceMs, limit: MAX_NAMES }),
    reader.timings.listNames({ sinceMs: spans[1].ms, limit: MAX_NAMES }),
    reader.jobTypes.listPaused(),
    findTypeHealth(reader),
  ]);
  const changes = changesOf(failing, slow);
  const pauses = new Map(paused.map((pause) => [pause.name, pauseText(pause)]));
  const usual = new Map(day.map(({ name, timing }) => [name, timing]));
  const rows = timed.map((type) => ({
    ...typeRow(type, usual.get(type.name), pauses.get(type.name) ?? null),
    change: changes.get(type.name) ?? null,
  }));
  const timedNames = new Set(timed.map(({ name }) => name));
  const idle = paused
    .filter(({ name }) => !timedNames.has(name))
    .map(({ name }): TypeRow => ({
      name,
      isOthers: false,
      paused: pauses.get(name) ?? null,
      ended: 0,
      failed: 0,
      failedShare: null,
      waitingMs: null,
      runningMs: null,
      usualWaitingMs: null,
      usualRunningMs: null,
      change: null,
      course: null,
    }));
  return [...rows, ...idle].toSorted(
    (one, other) =>
      sorts[sort](other) - sorts[sort](one) || other.ended - one.ended || compareTexts(one.name, other.name),
  );
}

function typeRow(
  { name, timing }: NameTiming,
  usual: NameTiming['timing'] | undefined,
  paused: Sentence | null,
): Omit<TypeRow, 'change'> {
  const failures = timing.failed + timing.retried;
  const [waitingMs, runningMs] = [timing.waiting.percentile(SHARE), timing.running.percentile(SHARE)];
  return {
    name,
    isOthers: name === otherNames,
    paused,
    ended: timing.done + timing.failed,
    failed: timing.failed,
    failedShare: failures === 0 ? null : formatShare(failures / (timing.done + failures)),
    waitingMs,
    runningMs,
    usualWaitingMs: ifSlower(waitingMs, usual?.waiting.percentile(SHARE) ?? null),
    course: null,
    usualRunningMs: ifSlower(runningMs, usual?.running.percentile(SHARE) ?? null),
  };
}

function ifSlower(recentMs: number | null, usualMs: number | null): number | null {
  return recentMs !== null && usualMs !== null && recentMs >= SLOWER * usualMs ? usualMs : null;
}
