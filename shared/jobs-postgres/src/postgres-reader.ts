import {
  type Attempt,
  type BatchReader,
  type ContinuationPage,
  isId,
  type Job,
  type JobCount,
  type JobFilter,
  type JobLogReader,
  type JobListQuery,
  type JobDocuments,
  type JobReader,
  type JobState,
  jobStates,
  mostLookedAt,
  type Orphan,
  orphansAmong,
  type Queue,
  type Server,
  type StateCounts,
} from '@longshore/jobs';
import { arrayOf } from './array-literal.js';
import type { Database } from './database.js';
import { type JobRow, toAttempts, toJob } from './job-row.js';
import type { QueueDirectory, QueueRow } from './queue-directory.js';
import { type CountRow, selectCounts } from './sql/counts.js';
import { isCounted, statesOf } from './sql/job-conditions.js';
import { selectChildren } from './sql/job-links.js';
import { selectWaitingNames } from './sql/orphans.js';
import {
  countJobs,
  findDocuments,
  findJob,
  findJobs,
  listJobs,
  type SearchScope,
  selectOldestReady,
} from './sql/read-jobs.js';
import { selectServers, type ServerRow, toServer } from './sql/servers.js';

/** Counting stops here when the filter is one that the counters do not know. */
const mostCounted = 10_000;

/** What people look at. */
export class PostgresReader implements Omit<JobReader, keyof (BatchReader & JobLogReader)> {
  readonly #database: Database;
  readonly #searches: Database;
  readonly #queues: QueueDirectory;

  /** @param searches for what nobody can foresee the cost of */
  constructor(database: Database, searches: Database, queues: QueueDirectory) {
    this.#database = database;
    this.#searches = searches;
    this.#queues = queues;
  }

  async findJob(id: string): Promise<Job | null> {
    const row = await this.findRow(id);
    return row === undefined ? null : toJob(row, await this.#queues.nameOf(row.queue_id));
  }

  async findDocuments(jobId: string): Promise<JobDocuments | null> {
    if (!isId(jobId)) return null;
    const [row] = await this.#database.query<{ args: string; result: string }>(findDocuments, [jobId]);
    return row ?? null;
  }

  async listAttempts(jobId: string): Promise<Attempt[]> {
    const row = await this.findRow(jobId);
    return row === undefined ? [] : toAttempts(row);
  }

  async listJobs({ filter = {}, order = 'newest', limit, offset = 0, after }: JobListQuery): Promise<Job[]> {
    const scope = await this.#scopeOf(filter);
    const query = listJobs({ ...scope, newestFirst: order === 'newest', limit, offset, after });
    const rows = await this.#searches.query<JobRow>(query, query.values);
    return this.#toJobs(rows);
  }

  async listContinuations(id: string, page: ContinuationPage = {}): Promise<Job[]> {
    const { limit = 100, after = '00000000-0000-0000-0000-000000000000' } = page;
    if (!isId(id)) return [];
    const children = await this.#database.query<{ id: string }>(selectChildren, [id, limit, after]);
    const rows = await this.#database.query<JobRow>(findJobs, [arrayOf(children.map((child) => child.id))]);
    return this.#toJobs(rows);
  }

  async countJobs(filter: JobFilter = {}): Promise<JobCount> {
    if (!isCounted(filter)) {
      const query = countJobs(await this.#scopeOf(filter), mostCounted);
      const [row] = await this.#searches.query<{ jobs: number }>(query, query.values);
      const jobs = row?.jobs ?? 0;
      return { count: Math.min(jobs, mostCounted), exact: jobs <= mostCounted };
    }
    const queueIds = await this.queueIds(filter);
    const states = statesOf(filter);
    const counts = await this.counts();
    const counted = counts.filter(
      (row) => states.includes(row.state) && (queueIds === undefined || queueIds.includes(row.queue_id)),
    );
    return { count: counted.reduce((sum, { jobs }) => sum + Number(jobs), 0), exact: true };
  }

  async stateCounts(): Promise<StateCounts> {
    return sumByState(await this.counts());
  }

  async findQueue(name: string): Promise<Queue | null> {
    const row = (await this.#queues.all()).find((queue) => queue.name === name);
    return row === undefined ? null : ((await this.#toQueues([row]))[0] ?? null);
  }

  async listQueues(): Promise<Queue[]> {
    return this.#toQueues(await this.#queues.all());
  }

  async listServers(): Promise<Server[]> {
    return (await this.#database.query<ServerRow>(selectServers)).map(toServer);
  }

  async listOrphans(): Promise<Orphan[]> {
    const [waiting, servers] = await Promise.all([
      this.#searches.query<{ queue: string; name: string; jobs: number }>(selectWaitingNames, [mostLookedAt]),
      this.listServers(),
    ]);
    return orphansAmong(waiting, servers);
  }

  async ping(): Promise<void> {
    await this.#database.query({ text: 'select' });
  }

  /** The job as it is stored; `undefined` if there is none. */
  async findRow(id: string): Promise<JobRow | undefined> {
    if (!isId(id)) return undefined;
    const [row] = await this.#database.query<JobRow>(findJob, [id]);
    return row;
  }

  async #scopeOf(filter: JobFilter): Promise<SearchScope> {
    const [queueIds, counts] = await Promise.all([this.queueIds(filter), this.counts()]);
    const occupied = new Map<JobState, number[]>(jobStates.map((state) => [state, []]));
    for (const { queue_id: id, state, jobs } of counts) {
      if (Number(jobs) > 0 && (queueIds === undefined || queueIds.includes(id)))
        occupied.get(state)?.push(id);
    }
    return { filter, queueIds, occupied: (state) => occupied.get(state) ?? [] };
  }

  async #toQueues(queues: readonly QueueRow[]): Promise<Queue[]> {
    const [counts, oldest, servers] = await Promise.all([
      this.counts(),
      this.#database.query<{ id: number; ready_at: Date }>(selectOldestReady, [queues.map(({ id }) => id)]),
      this.listServers(),
    ]);
    const oldestById = new Map(oldest.map((row) => [row.id, row.ready_at]));
    const countsById = new Map<number, CountRow[]>(queues.map(({ id }) => [id, []]));
    for (const row of counts) countsById.get(row.queue_id)?.push(row);
    return queues.map(({ id, name, paused_at: pausedAt, created_at: createdAt, ...limits }) => ({
      name,
      pausedAt,
      concurrencyLimit: limits.concurrency_limit,
      rateLimit: limits.rate_limit,
      counts: sumByState(countsById.get(id) ?? []),
      oldestEnqueuedAt: oldestById.get(id) ?? null,
      servers: servers.filter(({ state, queues: taken }) => state === 'running' && taken.includes(name))
        .length,
      createdAt,
    }));
  }

  #toJobs(rows: readonly JobRow[]): Promise<Job[]> {
    return Promise.all(rows.map(async (row) => toJob(row, await this.#queues.nameOf(row.queue_id))));
  }

  /** Jobs of each queue by state. */
  async counts(): Promise<CountRow[]> {
    return this.#database.query<CountRow>(selectCounts);
  }

  /** `undefined`: the filter names none. A queue that does not exist holds no jobs. */
  async queueIds({ queue: names }: JobFilter): Promise<number[] | undefined> {
    if (names === undefined || names.length === 0) return undefined;
    const queues = await this.#queues.all();
    return queues.filter(({ name }) => names.includes(name)).map(({ id }) => id);
  }
}

function sumByState(rows: readonly CountRow[]): StateCounts {
  const sums = Object.fromEntries(jobStates.map((state) => [state, 0])) as Record<JobState, number>;
  for (const { state, jobs } of rows) sums[state] += Number(jobs);
  return sums;
}
