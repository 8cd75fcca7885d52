import { compareTexts } from '@longshore/edge';
import { type NameTiming, otherNames } from '@longshore/jobs/storage';
import { pauseText } from '../../diagnosis/pause.js';
import type { Sentence } from '../../format/sentence.js';
import { pageOf } from '../list-page.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

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
  readonly waitingMs: number | null;
  readonly runningMs: number | null;
  /**
   * The 95th percentiles over the last 24 hours, for comparison. Each is `null` unless the value of the shown period is
   * at least twice as high.
   */
  readonly usualWaitingMs: number | null;
  readonly usualRunningMs: number | null;
}

/** The values that the list can be sorted by. The highest value always comes first. */
const sorts = {
  ended: ({ ended }: TypeRow) => ended,
  failed: ({ failed }: TypeRow) => failed,
  waiting: ({ waitingMs }: TypeRow) => waitingMs ?? -1,
  running: ({ runningMs }: TypeRow) => runningMs ?? -1,
} as const;

type Sort = keyof typeof sorts;

/** Creates the list of the job types that ran recently or are paused. */
export async function typesPage({ query }: PageRequest, context: PageContext): Promise<Page> {
  const span = spans.find(({ key }) => key === query.get('since')) ?? spans[0];
  const wanted = query.get('sort') ?? 'ended';
  const sort: Sort = Object.hasOwn(sorts, wanted) ? (wanted as Sort) : 'ended';
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
          const { rows, ...place } = pageOf(await readTypes(span.ms, sort, context), query, ROWS);
          const sortPaths = Object.fromEntries(
            (Object.keys(sorts) as Sort[]).map((by) => [by, path(span.key, by)]),
          );
          return { ...place, types: rows, sort, sortPaths, path: path(span.key, sort), word: span.word };
        },
      },
    ],
  };
}

async function readTypes(sinceMs: number, sort: Sort, { reader }: PageContext): Promise<TypeRow[]> {
  const [timed, day, paused] = await Promise.all([
    reader.timings.listNames({ sinceMs, limit: MAX_NAMES }),
    reader.timings.listNames({ sinceMs: spans[1].ms, limit: MAX_NAMES }),
    reader.jobTypes.listPaused(),
  ]);
  const pauses = new Map(paused.map((pause) => [pause.name, pauseText(pause)]));
  const usual = new Map(day.map(({ name, timing }) => [name, timing]));
  const rows = timed.map((type) => typeRow(type, usual.get(type.name), pauses.get(type.name) ?? null));
  const known = new Set(timed.map(({ name }) => name));
  const idle = paused
    .filter(({ name }) => !known.has(name))
    .map(({ name }): TypeRow => ({
      name,
      isOthers: false,
      paused: pauses.get(name) ?? null,
      ended: 0,
      failed: 0,
      waitingMs: null,
      runningMs: null,
      usualWaitingMs: null,
      usualRunningMs: null,
    }));
  return [...rows, ...idle].toSorted(
    (one, other) => sorts[sort](other) - sorts[sort](one) || compareTexts(one.name, other.name),
  );
}

function typeRow(
  { name, timing }: NameTiming,
  usual: NameTiming['timing'] | undefined,
  paused: Sentence | null,
): TypeRow {
  const [waitingMs, runningMs] = [timing.waiting.percentile(SHARE), timing.running.percentile(SHARE)];
  return {
    name,
    isOthers: name === otherNames,
    paused,
    ended: timing.done + timing.failed,
    failed: timing.failed,
    waitingMs,
    runningMs,
    usualWaitingMs: ifSlower(waitingMs, usual?.waiting.percentile(SHARE) ?? null),
    usualRunningMs: ifSlower(runningMs, usual?.running.percentile(SHARE) ?? null),
  };
}

function ifSlower(recentMs: number | null, usualMs: number | null): number | null {
  return recentMs !== null && usualMs !== null && recentMs >= SLOWER * usualMs ? usualMs : null;
}
