import type { JobEvent } from '@longshore/jobs';
import {
  type EventTopic,
  type FeedPage,
  type FeedRequest,
  finishedStates,
  firstIdOf,
  isId,
  type JobFeed,
  type JobMeta,
  keyOf,
  readMeta,
  stateEventsOf,
  topicOf,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import { toAttempts } from './job-row.js';
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
   * The end, snapshot and topics of the latest read that caught up. The next read finds nothing new if it continues
   * there with the same snapshot and topics.
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

  async read({ since, spanMs = Infinity, topics }: FeedRequest): Promise<FeedPage> {
    const [now] = await this.#database.query<{ settled: Date; snapshot: string }>(settledUpTo);
    if (now === undefined) throw new Error('Postgres did not return the time');
    const { snapshot } = now;
    if (since === null) return { events: [], resumeAt: now.settled, caughtUp: true };
    const endsMs = since.getTime() + spanMs;
    const caughtUp = endsMs > now.settled.getTime();
    const settledMs = caughtUp ? Math.max(since.getTime(), now.settled.getTime()) : endsMs;
    const resumeAt = new Date(settledMs);
    const seen = { settledMs, snapshot, topics: topics.toSorted().join() };
    const before = this.#seen;
    if (caughtUp) this.#seen = seen;
    if (
      before?.settledMs === since.getTime() &&
      before.snapshot === snapshot &&
      before.topics === seen.topics &&
      caughtUp
    )
      return { events: [], resumeAt, caughtUp }; // nothing has been written since the last read

    const until = caughtUp ? 'infinity' : resumeAt;
    await this.#summarizeIfDue();
    const rows = await this.#stateChanges(since, until, topics);
    this.#rowsSinceSummary += rows.length;
    const events = [...(await this.#stateEvents(rows)), ...(await this.#reportEvents(since, until, topics))];
    return {
      events: events
        .filter(
          (event) => event.at >= since && (caughtUp || event.at < until) && topics.includes(topicOf(event)),
        )
        .toSorted((one, other) => one.at.getTime() - other.at.getTime()),
      resumeAt,
      caughtUp,
    };
  }

  /**
   * Returns rows of jobs whose state changed between `since` and `until`. Can return a job twice if the job moves
   * between tables during the queries.
   */
  async #stateChanges(
    since: Date,
    until: Date | 'infinity',
    topics: readonly EventTopic[],
  ): Promise<StateChangeRow[]> {
    const times = [since, until];
    const wants = (...some: EventTopic[]): boolean => some.some((topic) => topics.includes(topic));
    const waits = wants('scheduled', 'awaiting', 'enqueued');
    const runs = waits || wants('processing');
    const ends = runs ? finishedStates : finishedStates.filter((state) => topics.includes(state));
    const parts = await Promise.all([
      ends.length === 0 ? [] : this.#histories.query<StateChangeRow>(selectEnded, [ends, ...times]),
      runs ? this.#database.query<StateChangeRow>(selectStarted, times) : [],
      runs ? this.#database.query<StateChangeRow>(selectRetried, times) : [],
      waits
        ? this.#database.query<StateChangeRow>(selectCreated, [
            ...times,
            firstIdOf(new Date(since.getTime() - skewMs)),
          ])
        : [],
    ]);
    return parts.flat();
  }

  async #stateEvents(rows: readonly StateChangeRow[]): Promise<JobEvent[]> {
    const events = new Map<string, JobEvent>();
    for (const row of rows) {
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
      for (const event of stateEventsOf(timeline, toAttempts(row))) events.set(keyOf(event), event);
    }
    return [...events.values()];
  }

  async reportsOf(jobId: string, since: Date): Promise<JobEvent[]> {
    if (!isId(jobId)) return [];
    return this.#toReportEvents(await this.#database.query<ReportRow>(selectReportsOfJob, [jobId, since]));
  }

  async #reportEvents(
    since: Date,
    until: Date | 'infinity',
    topics: readonly EventTopic[],
  ): Promise<JobEvent[]> {
    if (!topics.includes('progress') && !topics.includes('log')) return [];
    return this.#toReportEvents(await this.#database.query<ReportRow>(selectReports, [since, until]));
  }

  #toReportEvents(rows: readonly ReportRow[]): Promise<JobEvent[]> {
    return Promise.all(
      rows.map(async (row): Promise<JobEvent> => {
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
      }),
    );
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
      await this.#database.transaction((client) => client.query(summarizeTimes.text, [names]), {
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
