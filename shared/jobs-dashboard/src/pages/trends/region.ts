import type { BlockingKeys, DurationHistogram, TimingBucket, TimingQuery } from '@longshore/jobs/storage';
import { StorageUnavailableError } from '@longshore/jobs';
import type { BacklogOutlook } from '../../diagnosis/backlog-outlook.js';
import { uncountedSentence } from '../../diagnosis/blocking-keys.js';
import { type Changes, readChanges } from '../../diagnosis/changes.js';
import { blockedShareOf } from '../../diagnosis/slowness.js';
import { chartOf } from '../../format/chart.js';
import { formatNumber, formatShare } from '../../format/count.js';
import { capitalized, type Sentence, sentence } from '../../format/sentence.js';
import {
  hasValues,
  linePath,
  maxOf,
  type Point,
  type Scale,
  scaleOf,
  WIDTH,
  xOf,
} from '../../format/line-chart.js';
import { formatDuration } from '../../format/time.js';
import type { PageContext, Region } from '../../shell/page.js';
import { heatOf } from './heat.js';
import { marksOf } from './marks.js';
import { type Range, rangeOf } from './range.js';

const shares = [
  { word: 'p50', share: 0.5 },
  { word: 'p95', share: 0.95 },
  { word: 'p99', share: 0.99 },
] as const;

/** Maximum number of clickable areas in a chart. A click picks an end of a new period. */
const MAX_PICKS = 60;
const MAX_ROWS = 24;
const TICKS = 4;
/** Shares of the waiting time below this are not worth a note. */
const LEAST_SHARE = 0.01;
/** Nor is anything if 99 % of the waits are shorter than this, in milliseconds: the rhythm in which scheduled jobs are enqueued. */
const LEAST_WAIT_MS = 1_000;
const MINUTE = 60_000;
const DAY = 86_400_000;

/** The queue or job type that the charts cover. If empty, the charts cover all jobs. */
type TrendSubject = Pick<TimingQuery, 'queue' | 'name'>;

interface TrendOptions {
  /** The path of the page, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly subject: TrendSubject;
  /** Whether to include a throughput chart. Defaults to `false`. */
  readonly throughput?: boolean;
  /** Reads how the backlog changes. Omitted for anything but a queue, because its parts can change in different ways. */
  readonly outlook?: () => Promise<BacklogOutlook>;
  /** Reads the keys that block jobs. Omitted where it is not known which of these belong to the charts. */
  readonly blocking?: () => Promise<BlockingKeys>;
}

interface Line {
  readonly word: string;
  readonly d: string;
  /** For the backlog, the latest value. For durations, the percentile over the whole period. */
  readonly text: string;
}

/**
 * Creates the region with the charts of the waiting time, the running time and the backlog. Also includes a throughput
 * chart if `throughput` is set.
 */
export function trendsRegion(context: PageContext, options: TrendOptions): Region {
  return { name: 'trends', view: 'trends', everyMs: 5_000, load: () => loadTrends(context, options) };
}

async function loadTrends(context: PageContext, options: TrendOptions): Promise<object> {
  const { reader, now } = context;
  const { path, query, subject, throughput = false, outlook, blocking } = options;
  const range = rangeOf(query, now());
  const [buckets, latest, before, changes, backlog, keys] = await Promise.all([
    reader.timings.read(queryOf(range, subject)),
    // A bucket holds only the highest backlog measured in it. If buckets are longer than a minute, the latest backlog
    // is therefore read separately, from the one-minute buckets of the last hour.
    range.isLive && range.bucketMs > MINUTE
      ? reader.timings.read(queryOf(rangeOf(new URLSearchParams(), now()), subject))
      : null,
    range.beforeMs === null ? [] : readBefore(range, range.beforeMs, subject, context),
    changesIn(range, context),
    range.isLive ? outlook?.() : undefined,
    range.isLive ? blocking?.() : undefined,
  ]);
  const rows = everyNth(buckets, MAX_ROWS);
  const groups = groupsOf(buckets, MAX_PICKS);
  const picks = picksOf(groups, range);
  const isDated = range.untilMs - range.fromMs > 1.5 * DAY || !range.isLive;
  return {
    path,
    from: new Date(range.fromMs).toISOString().slice(0, 16),
    until: new Date(range.untilMs).toISOString().slice(0, 16),
    spans: range.spans,
    comparisons: range.comparisons,
    before: range.comparisons.find(({ current }) => current)?.word.replace('vs ', '') ?? null,
    picked:
      range.pickedMs === null ? null : { at: new Date(range.pickedMs), cancel: range.query({ from: null }) },
    picks,
    heat: heatOf(subject, groups, picks),
    // Tick labels with a date are twice as wide, so there are half as many.
    ticks: ticksOf(range, isDated ? TICKS / 2 : TICKS),
    end: range.isLive ? null : new Date(range.untilMs),
    isDated,
    grid: gridOf(),
    ...marksOf(changes, subject, range),
    pickedX: range.pickedMs === null || range.pickedMs < range.fromMs ? null : xOf(range.pickedMs, range),
    throughput: throughput ? throughputOf(buckets, range.untilMs > now()) : null,
    charts: [
      {
        ...durationChart('Waiting', 'waiting', buckets, groups, before, range),
        note: waitingNote(buckets, keys, range),
      },
      durationChart('Running', 'running', buckets, groups, before, range),
      backlogChart(
        buckets,
        groups,
        latest,
        before,
        range,
        backlog === undefined ? null : noteOf(backlog),
        now(),
      ),
    ],
    rows: rows.map(({ at, timing, backlog }) => ({
      at,
      pick: pickOf(at.getTime(), range),
      cells: [
        ...(['waiting', 'running'] as const).flatMap((part) =>
          shares.map(({ share }) => durationText(timing[part].percentile(share))),
        ),
        backlog === null ? '–' : formatNumber(backlog),
        formatNumber(timing.done),
        formatNumber(timing.failed),
      ],
    })),
  };
}

function queryOf({ fromMs, untilMs, bucketMs }: Range, subject: TrendSubject): TimingQuery {
  return { from: new Date(fromMs), until: new Date(untilMs), bucketMs, ...subject };
}

/**
 * Reads the timings of the same period a day or a week earlier. Returns no buckets if these timings have been removed.
 */
async function readBefore(
  range: Range,
  beforeMs: number,
  subject: TrendSubject,
  { reader, now }: PageContext,
): Promise<TimingBucket[]> {
  const kept = rangeOf(
    new URLSearchParams({
      from: new Date(range.fromMs - beforeMs).toISOString(),
      until: new Date(range.untilMs - beforeMs).toISOString(),
    }),
    now(),
  );
  return kept.isLive ? [] : reader.timings.read(queryOf(kept, subject));
}

/** Reads what was changed in the period. The charts are useful even without it. */
async function changesIn({ fromMs, untilMs }: Range, context: PageContext): Promise<Changes> {
  try {
    return await readChanges({ from: new Date(fromMs), until: new Date(untilMs) }, context);
  } catch (error) {
    if (error instanceof StorageUnavailableError) return { changes: [], isComplete: true };
    throw error;
  }
}

function pointsOf(
  buckets: readonly TimingBucket[],
  bucketMs: number,
  valueOf: (bucket: TimingBucket) => number | null,
): Point[] {
  return buckets.map((bucket) => ({ atMs: bucket.at.getTime() + bucketMs / 2, value: valueOf(bucket) }));
}

/** Returns the points of an earlier period, shifted to the current period. */
function earlier(
  before: readonly TimingBucket[],
  beforeMs: number | null,
  valueOf: (bucket: TimingBucket) => number | null,
): Point[] {
  const [first, second] = before;
  const bucketMs =
    first === undefined || second === undefined ? 60_000 : second.at.getTime() - first.at.getTime();
  return pointsOf(before, bucketMs, valueOf).map(({ atMs, value }) => ({
    atMs: atMs + (beforeMs ?? 0),
    value,
  }));
}

function durationChart(
  title: string,
  part: 'waiting' | 'running',
  buckets: readonly TimingBucket[],
  groups: readonly (readonly TimingBucket[])[],
  before: readonly TimingBucket[],
  range: Range,
): object {
  const lines = shares.map(({ share }) =>
    pointsOf(buckets, range.bucketMs, ({ timing }) => timing[part].percentile(share)),
  );
  const past = earlier(before, range.beforeMs, ({ timing }) => timing[part].percentile(0.95));
  const scale = scaleOf([...lines, past], 'duration');
  const whole = wholeOf(buckets, part);
  return {
    title,
    axis: hasValues(...lines, past) ? axisOf(scale, axisDuration) : null,
    values: groups.map((group) => {
      const merged = wholeOf(group, part);
      return shares
        .map(({ word, share }) => `${word} ${durationText(merged?.percentile(share) ?? null)}`)
        .join(', ');
    }),
    lines: shares.map(({ word, share }, index): Line => ({
      word,
      d: linePath(lines[index] ?? [], range, scale),
      text: durationText(whole?.percentile(share) ?? null),
    })),
    before: linePath(past, range, scale),
    beforeText: durationText(wholeOf(before, part)?.percentile(0.95) ?? null),
    note: null,
  };
}

/**
 * Returns for which part of the waiting time of the whole period jobs were not ready, and which blocked jobs are not in it
 * yet. Keys blocked jobs in that part, or scheduled jobs were due but not enqueued yet.
 */
function waitingNote(
  buckets: readonly TimingBucket[],
  keys: BlockingKeys | undefined,
  { spans }: Range,
): Sentence | null {
  const uncounted = keys === undefined ? null : uncountedSentence(keys);
  const share = blockedShareOf(buckets);
  const slowestMs = wholeOf(buckets, 'waiting')?.percentile(0.99) ?? 0;
  if (share < LEAST_SHARE || slowestMs < LEAST_WAIT_MS) return uncounted;
  const ready = wholeOf(buckets, 'ready')?.percentile(0.95) ?? null;
  const period = spans.find(({ current }) => current)?.word ?? 'this period';
  const split = sentence`over ${period}, not ready for ${formatShare(share)} of it, ready p95 ${durationText(ready)}`;
  if (uncounted !== null) return sentence`${split}; ${uncounted}`;
  return keys?.isComplete === true ? sentence`${split}; no key blocks now` : split;
}

/** Merges the durations of all buckets into one histogram; `undefined` if there are no buckets. */
function wholeOf(
  [first, ...later]: readonly TimingBucket[],
  part: 'waiting' | 'ready' | 'running',
): DurationHistogram | undefined {
  const whole = first?.timing.copy()[part];
  for (const { timing } of later) whole?.merge(timing[part]);
  return whole;
}

/** Returns how the backlog changes, or else which jobs are not taken. */
function noteOf({ brief, stopped, held }: BacklogOutlook): Sentence | null {
  return capitalized(brief ?? stopped ?? held[0] ?? null);
}

/** @param latest one-minute buckets of the last hour; `null` unless the period ends now and has longer buckets */
function backlogChart(
  buckets: readonly TimingBucket[],
  groups: readonly (readonly TimingBucket[])[],
  latest: readonly TimingBucket[] | null,
  before: readonly TimingBucket[],
  range: Range,
  trend: Sentence | null,
  nowMs: number,
): object {
  const points = pointsOf(buckets, range.bucketMs, ({ backlog }) => backlog);
  const past = earlier(before, range.beforeMs, ({ backlog }) => backlog);
  const scale = scaleOf([points, past], 'count');
  const recent = latest === null ? points : pointsOf(latest, MINUTE, ({ backlog }) => backlog);
  const last = recent.findLast(({ value }) => value !== null);
  // Hides an outdated value. Servers measure the backlog, so it can grow unnoticed while no server is running.
  const isOutdated = range.isLive && last !== undefined && last.atMs < nowMs - 2 * MINUTE;
  const latestBacklog = isOutdated ? null : (last?.value ?? null);
  const note = isOutdated ? ['No recent figures'] : latestBacklog === 0 ? ['Empty'] : trend;
  return {
    title: 'Backlog',
    axis: hasValues(points, past) ? axisOf(scale, formatNumber) : null,
    values: groups.map((group) => {
      const measured = group.flatMap(({ backlog }) => backlog ?? []);
      return measured.length === 0 ? '–' : formatNumber(Math.max(...measured));
    }),
    lines: [
      {
        word: 'ready or blocked',
        d: linePath(points, range, scale),
        text: latestBacklog === null ? '–' : formatNumber(latestBacklog),
      },
    ],
    before: linePath(past, range, scale),
    beforeText: hasValues(past) ? `at most ${formatNumber(maxOf(past))}` : '–',
    note: range.isLive ? note : null,
  };
}

function throughputOf(buckets: readonly TimingBucket[], isCurrent: boolean): object {
  return chartOf(
    buckets.map(({ at, timing: { done, failed } }) => ({ at, done, failed })),
    TICKS,
    isCurrent,
  );
}

/** A part of a chart that is clicked to pick an end of a new period. */
interface PickArea {
  readonly x: number;
  readonly width: number;
  readonly query: string;
  readonly at: string;
}

function picksOf(groups: readonly (readonly TimingBucket[])[], range: Range): PickArea[] {
  const begins = groups.flatMap(([first]) => first?.at.getTime() ?? []);
  return begins.map((atMs, index) => {
    const x = xOf(atMs, range);
    const next = begins[index + 1];
    return {
      x,
      width: (next === undefined ? WIDTH : xOf(next, range)) - x,
      query: pickOf(atMs, range),
      at: `${isoMinute(atMs).slice(0, -1).replace('T', ' ')} UTC`,
    };
  });
}

/** Returns consecutive buckets in at most `max` groups of equal size. */
function groupsOf(buckets: readonly TimingBucket[], max: number): (readonly TimingBucket[])[] {
  const size = Math.ceil(buckets.length / max);
  return everyNth(buckets, max).map((_first, index) => buckets.slice(index * size, (index + 1) * size));
}

/** Returns the labels of a vertical axis, from top to bottom. */
function axisOf(scale: Scale, format: (value: number) => string): object {
  const { top, middle, bottom, isLogarithmic } = scale;
  return { labels: [top, middle, bottom].map((value) => (value === 0 ? '0' : format(value))), isLogarithmic };
}

/**
 * Returns the query for a click on a bucket. The first click sets one end of a new period. The second click sets both
 * ends.
 */
function pickOf(atMs: number, range: Range): string {
  const at = isoMinute(atMs);
  if (range.pickedMs === null) return range.query({ from: at, until: null });
  const isEarlier = atMs < range.pickedMs;
  return range.query({
    from: isEarlier ? at : isoMinute(range.pickedMs),
    until: isEarlier ? isoMinute(range.pickedMs + range.bucketMs) : isoMinute(atMs + range.bucketMs),
  });
}

function isoMinute(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 16)}Z`;
}

function ticksOf({ fromMs, untilMs }: Range, count: number): Date[] {
  return Array.from(
    { length: count },
    (_each, index) => new Date(fromMs + (index * (untilMs - fromMs)) / count),
  );
}

function gridOf(): string {
  return `M0 50h${WIDTH}${Array.from({ length: TICKS }, (_each, index) => `M${(index * WIDTH) / TICKS} 0v100`).join('')}`;
}

function everyNth<Item>(items: readonly Item[], max: number): Item[] {
  const step = Math.ceil(items.length / max);
  return items.filter((_item, index) => index % step === 0);
}

/** Formats a label of an axis: `1,000 s` is shorter than `16 min 40 s`. */
function axisDuration(ms: number): string {
  return ms >= 60_000 && ms % 60_000 !== 0 ? `${formatNumber(ms / 1_000)} s` : formatDuration(ms);
}

function durationText(ms: number | null): string {
  return ms === null ? '–' : formatDuration(ms);
}
