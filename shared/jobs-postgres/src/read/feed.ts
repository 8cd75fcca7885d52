import type { JobEvent } from '@longshore/jobs';
import {
  type EventTopic,
  type FeedEntry,
  type FeedFilter,
  type FeedPage,
  feedPageOf,
  type FeedPosition,
  type FeedRequest,
  finishedStates,
  firstIdOf,
  isId,
  type JobFeed,
  type JobMeta,
  readMeta,
  type ReportPage,
  stateEventsOf,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { toAttempts } from '../jobs/job-row.js';
import {
  type StateChangeRow,
  type ReportRow,
  selectCreated,
  selectEnded,
  selectRetried,
  selectReports,
  selectReportsOfJob,
  selectStarted,
  settledUpTo,
  summarizeTimes,
} from './feed.sql.js';

/**
 * Maximum difference between the time in a job's id and the database's clock, in milliseconds. Clients generate the
 * ids, so the two can differ.
 */
const skewMs = 10_000;

/** The time indexes are updated again after this many rows have been read. */
const summarizeAfterRows = 2_000;

/** Minimum interval between updates of the time indexes, in milliseconds. */
const summarizeEveryMs = 2_000;

/**
 * Lock timeout, in milliseconds. Well below `deadlock_timeout` (one second by default), because Postgres cancels an
 * autovacuum that blocks a lock request for that long.
 */
const lockTimeoutMs = '200';

const dayMs = 86_400_000;

/** Derives job events from the rows of finished, running and waiting jobs and from their reports (docs/adr/007). */
export class PostgresFeed implements JobFeed {
  readonly #database: Database;
  readonly #histories: Database;
  readonly #clock: DatabaseClock;
  readonly #queues: QueueIdCache;
  /**
   * Where the next read after the latest one that caught up starts, its snapshot and its topics. The next read finds
   * nothing new if it starts there with the same snapshot and topics.
   */
  #seen: { readonly settledMs: number; readonly snapshot: string; readonly topics: string } | undefined;
  #rowsSinceSummary = Infinity;
  #summarizedAt = -Infinity;

  /**
   * @param histories connections on which each query is planned for its parameter values, so that Postgres reads only a
   *   short time span of the finished jobs
   */
  constructor(database: Database, histories: Database, clock: DatabaseClock, queues: QueueIdCache) {
    this.#database = database;
    this.#clock = clock;
    this.#histories = histories;
    this.#queues = queues;
  }

  async readSettled(): Promise<Date> {
    return (await this.#readNow()).settled;
  }

  async #readNow(): Promise<{ settled: Date; snapshot: string }> {
    const [now] = await this.#database.query<{ settled: Date; snapshot: string }>(settledUpTo);
    if (now === undefined) throw new Error('Postgres did not return the time');
    return now;
  }

  async read(request: FeedRequest): Promise<FeedPage> {
    const { from, spanMs = Infinity, topics, filter = {} } = request;
    const { settled, snapshot } = await this.#readNow();
    const endsMs = from.at.getTime() + spanMs;
    const until = endsMs > settled.getTime() ? null : new Date(endsMs);
    const seen = { settledMs: settled.getTime(), snapshot, topics: topics.toSorted().join() };
    if (this.#isUnchanged(request, snapshot)) {
      this.#seen = seen;
      return { events: [], next: null, settled };
    }

    await this.#summarizeIfDue();
    const values = [from.at, from.id, until ?? 'infinity', request.limit, ...(await this.#valuesOf(filter))];
    const [changes, reports] = await Promise.all([
      this.#stateChanges(from, values, topics),
      this.#reports(values, topics),
    ]);
    this.#rowsSinceSummary += changes.reduce((sum, { length }) => sum + length, 0);
    const page = feedPageOf(request, [...changes, reports], until, settled);
    if (page.next === null && request.filter === undefined) this.#seen = seen;
    return page;
  }

  /** Returns whether nothing has been written since the latest read that reached the present, which started here. */
  #isUnchanged({ from, topics, filter }: FeedRequest, snapshot: string): boolean {
    return (
      filter === undefined &&
      from.since.getTime() === from.at.getTime() &&
      this.#seen?.settledMs === from.at.getTime() &&
      this.#seen.snapshot === snapshot &&
      this.#seen.topics === topics.toSorted().join()
    );
  }

  /** Returns the parameters $5 to $9 of the statements. */
  async #valuesOf({ queue, name, tag, batchId, recurringJobId }: FeedFilter): Promise<unknown[]> {
    const nullIfEmpty = <Value>(values: readonly Value[] | undefined): readonly Value[] | null =>
      values === undefined || values.length === 0 ? null : values;
    const queues = nullIfEmpty(queue);
    return [
      queues && (await this.#queues.idsOf(queues)),
      nullIfEmpty(name),
      nullIfEmpty(tag),
      nullIfEmpty(batchId),
      nullIfEmpty(recurringJobId),
    ];
  }

  /**
   * Returns the jobs whose state changed, by kind of change. Can return a job twice if the job moves between tables during
   * the queries.
   *
   * @param values the parameters that all statements share
   */
  async #stateChanges(
    from: FeedPosition,
    values: readonly unknown[],
    topics: readonly EventTopic[],
  ): Promise<FeedEntry[][]> {
    const wants = (...some: EventTopic[]): boolean => some.some((topic) => topics.includes(topic));
    const waits = wants('scheduled', 'awaiting', 'enqueued');
    const runs = waits || wants('processing');
    const ends = runs ? finishedStates : finishedStates.filter((state) => topics.includes(state));
    const firstId = firstIdOf(new Date(from.at.getTime() - skewMs));
    const parts = await Promise.all([
      ends.length === 0 ? [] : this.#histories.query<StateChangeRow>(selectEnded, [...values, ends]),
      runs ? this.#database.query<StateChangeRow>(selectStarted, [...values]) : [],
      runs ? this.#database.query<StateChangeRow>(selectRetried, [...values]) : [],
      waits ? this.#database.query<StateChangeRow>(selectCreated, [...values, firstId]) : [],
    ]);
    return Promise.all(parts.map((rows) => Promise.all(rows.map((row) => this.#entryOf(row)))));
  }

  async #entryOf(row: StateChangeRow): Promise<FeedEntry> {
    const timeline = {
      id: row.id,
      name: row.name,
      queue: await this.#queues.nameOf(row.queue_id),
      state: row.state,
      attempt: row.attempt,
      createdAt: row.created_at,
      runAt: row.run_at,
      finishedAt: row.finished_at,
      ...readMeta(row.meta),
    };
    return { at: row.entry_at, id: row.id, events: stateEventsOf(timeline, toAttempts(row)) };
  }

  async reportsOf(jobId: string, since: Date, limit: number): Promise<ReportPage> {
    if (!isId(jobId)) return { events: [], next: null };
    const rows = await this.#database.query<ReportRow>(selectReportsOfJob, [jobId, since, limit]);
    const last = rows.length < limit ? undefined : rows.at(-1)?.entry_at;
    return {
      events: await Promise.all(rows.map((row) => this.#reportEvent(row))),
      next: last === undefined ? null : new Date(last.getTime() + 1),
    };
  }

  async #reports(values: unknown[], topics: readonly EventTopic[]): Promise<FeedEntry[]> {
    if (!topics.includes('progress') && !topics.includes('log')) return [];
    const rows = await this.#database.query<ReportRow>(selectReports, values);
    return Promise.all(
      rows.map(async (row) => {
        return { at: row.entry_at, id: row.job_id, events: [await this.#reportEvent(row)] };
      }),
    );
  }

  async #reportEvent(row: ReportRow): Promise<JobEvent> {
    const subject = {
      at: row.written_at,
      jobId: row.job_id,
      name: row.name,
      queue: await this.#queues.nameOf(row.queue_id),
      attempt: row.attempt,
      ...originOf(row.meta),
    };
    const { line, level, percent, message, fields } = row;
    return line === null
      ? { kind: 'progress', ...subject, percent, message }
      : { kind: 'log', ...subject, line, level, message, fields };
  }

  async #summarizeIfDue(): Promise<void> {
    const nowMs = performance.now();
    if (this.#rowsSinceSummary < summarizeAfterRows || nowMs - this.#summarizedAt < summarizeEveryMs) return;
    this.#rowsSinceSummary = 0;
    this.#summarizedAt = nowMs;
    const now = await this.#clock.fresh();
    const days = [now.getTime() - dayMs, now.getTime()].map((time) =>
      new Date(time).toISOString().slice(0, 10).replaceAll('-', ''),
    );
    const names = finishedStates.flatMap((state) => days.map((day) => `job_history_${state}_${day}`));
    try {
      await this.#database.transaction((client) => client.query(summarizeTimes, [names]), {
        lock_timeout: lockTimeoutMs,
      });
    } catch (error) {
      // Ignores a lock timeout (55P03), for example during a vacuum, and a missing permission (42501). Reads are then
      // slower, but still correct.
      if (!['55P03', '42501'].includes(sqlStateOf(error))) throw error;
    }
  }
}

function originOf(meta: JobMeta | null): Pick<JobEvent, 'tags' | 'batchId' | 'recurringJobId'> {
  const { tags, batchId, recurringJobId } = readMeta(meta);
  return { tags, batchId, recurringJobId };
}
