import type { Outcome } from '../job/job.js';
import type { Clock } from '../job/clock.js';
import {
  emptyTimingBuckets,
  type HistoryBucket,
  type HistoryQuery,
  historyStart,
  type NameTiming,
  type NameTimingQuery,
  otherNames,
  resolutionOf,
  Timing,
  type TimingBucket,
  TimingBuffer,
  type TimingHistories,
  type TimingQuery,
  type Timings,
  timingsKept,
  type Wait,
} from '../storage/timings.js';
import type { MemoryJobs } from './memory-jobs.js';

type Resolution = 'minute' | 'hour';

/** Key for the timings of all queues or of all job names. */
const all = '';

interface Cell {
  readonly timing: Timing;
  backlog: number | null;
}

/** Timings for one queue or all queues, and for one job name or all names. */
class TimingSeries {
  readonly minute = new Map<number, Cell>();
  readonly hour = new Map<number, Cell>();

  cell(resolution: Resolution, atMs: number): Cell {
    const { bucketMs } = timingsKept[resolution];
    const at = Math.floor(atMs / bucketMs) * bucketMs;
    let cell = this[resolution].get(at);
    if (cell === undefined) this[resolution].set(at, (cell = { timing: new Timing(), backlog: null }));
    return cell;
  }

  trim(nowMs: number): void {
    for (const resolution of ['minute', 'hour'] as const)
      for (const at of this[resolution].keys())
        if (at < nowMs - timingsKept[resolution].forMs) this[resolution].delete(at);
  }
}

export class MemoryTimings implements Timings {
  readonly #jobs: MemoryJobs;
  readonly #clock: Clock;
  readonly #buffer: TimingBuffer;
  /** Timings by queue, then by job name. In both maps, the key {@link all} (an empty string) holds the totals. */
  readonly #series = new Map<string, Map<string, TimingSeries>>();
  #measuredMinute = 0;

  constructor(jobs: MemoryJobs, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
    this.#buffer = new TimingBuffer(clock);
  }

  started(queue: string, name: string, wait: Wait): void {
    this.#buffer.started(queue, name, wait);
  }

  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void {
    this.#buffer.ended(queue, name, outcome, ranMs);
  }

  async read(query: TimingQuery): Promise<TimingBucket[]> {
    const { buckets, resolution } = emptyTimingBuckets(query);
    this.store();
    const series = this.#series.get(query.queue ?? all)?.get(query.name ?? all);
    for (const [at, { backlog }] of this.#series.get(all)?.get(all)?.[resolution] ?? [])
      if (backlog !== null) raiseBacklog(bucketAt(buckets, query, at), 0);
    for (const [at, cell] of series?.[resolution] ?? []) {
      const bucket = bucketAt(buckets, query, at);
      bucket?.timing.merge(cell.timing);
      if (cell.backlog !== null) raiseBacklog(bucket, cell.backlog);
    }
    return [...buckets.values()];
  }

  async listNames(query: NameTimingQuery): Promise<NameTiming[]> {
    const resolution = resolutionOf(query);
    this.store();
    const { bucketMs } = timingsKept[resolution];
    const from = Math.floor((this.#clock.now() - query.sinceMs) / bucketMs) * bucketMs;
    const found: NameTiming[] = [];
    for (const [name, series] of this.#series.get(query.queue ?? all) ?? []) {
      const timing = new Timing();
      for (const [at, cell] of series[resolution]) if (at >= from) timing.merge(cell.timing);
      if (name !== all && attemptsOf(timing) + timing.waiting.total > 0) found.push({ name, timing });
    }
    const byAttempts = (one: NameTiming, other: NameTiming): number =>
      attemptsOf(other.timing) - attemptsOf(one.timing) || (one.name < other.name ? -1 : 1);
    return found.toSorted(byAttempts).slice(0, query.limit);
  }

  async readHistories(query: HistoryQuery): Promise<TimingHistories> {
    const nowMs = this.#clock.now();
    const { hoursFrom, minutesFrom } = historyStart(query, nowMs);
    this.store();
    const ofQueue = this.#series.get(query.queue ?? all);
    const bucketsOf = (series: TimingSeries | undefined, resolution: Resolution): HistoryBucket[] =>
      Array.from(series?.[resolution] ?? [], ([at, { timing }]) => ({
        at: new Date(at),
        bucketMs: timingsKept[resolution].bucketMs,
        timing: timing.copy(),
      }))
        .filter(({ timing }) => attemptsOf(timing) + timing.waiting.total > 0)
        .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    const historyOf = (name: string): HistoryBucket[] => {
      const series = ofQueue?.get(name);
      const hours = bucketsOf(series, 'hour').filter(
        ({ at }) => at.getTime() >= hoursFrom && at.getTime() < minutesFrom,
      );
      return [...hours, ...bucketsOf(series, 'minute').filter(({ at }) => at.getTime() >= minutesFrom)];
    };
    const byName = new Map(query.names.map((name) => [name, historyOf(name)] as const));
    return { readAt: new Date(nowMs), byName, total: historyOf(all) };
  }

  /** Stores the buffered timings. Once a minute, also measures the backlog and deletes old timings. */
  store(): void {
    for (const { queue, name, minute, timing } of this.#buffer.take())
      for (const series of this.#countedIn(queue, name))
        for (const resolution of ['minute', 'hour'] as const)
          series.cell(resolution, minute).timing.merge(timing);
    const { bucketMs } = timingsKept.minute;
    const minute = Math.floor(this.#clock.now() / bucketMs) * bucketMs;
    if (minute === this.#measuredMinute) return;
    this.#measuredMinute = minute;
    this.#measureBacklog(minute);
    for (const names of this.#series.values()) for (const series of names.values()) series.trim(minute);
  }

  #measureBacklog(minute: number): void {
    const sums = new Map<TimingSeries, number>([[this.#seriesOf(all, all), 0]]);
    for (const { queue, name, state } of this.#jobs.all()) {
      if (state !== 'enqueued') continue;
      for (const series of this.#countedIn(queue, name)) sums.set(series, (sums.get(series) ?? 0) + 1);
    }
    for (const [series, jobs] of sums)
      for (const resolution of ['minute', 'hour'] as const)
        raiseBacklog(series.cell(resolution, minute), jobs);
  }

  #countedIn(queue: string, name: string): TimingSeries[] {
    const names = this.#series.get(all);
    const kept = names?.has(name) === true || (names?.size ?? 0) <= timingsKept.names ? name : otherNames;
    return [
      this.#seriesOf(all, all),
      this.#seriesOf(queue, all),
      this.#seriesOf(all, kept),
      this.#seriesOf(queue, kept),
    ];
  }

  #seriesOf(queue: string, name: string): TimingSeries {
    let names = this.#series.get(queue);
    if (names === undefined) this.#series.set(queue, (names = new Map<string, TimingSeries>()));
    let series = names.get(name);
    if (series === undefined) names.set(name, (series = new TimingSeries()));
    return series;
  }
}

function bucketAt(
  buckets: ReadonlyMap<number, TimingBucket>,
  { bucketMs, from, until }: TimingQuery,
  at: number,
): TimingBucket | undefined {
  if (at < Math.floor(from.getTime() / bucketMs) * bucketMs || at >= until.getTime()) return undefined;
  return buckets.get(Math.floor(at / bucketMs) * bucketMs);
}

function raiseBacklog(cell: { backlog: number | null } | undefined, backlog: number): void {
  if (cell !== undefined) cell.backlog = Math.max(cell.backlog ?? 0, backlog);
}

function attemptsOf({ done, failed, retried }: Timing): number {
  return done + failed + retried;
}
