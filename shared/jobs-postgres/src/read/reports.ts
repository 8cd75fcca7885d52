import type { Job, TransactionClient } from '@longshore/jobs';
import {
  type Claim,
  type Clock,
  type JobLogLine,
  type JobReport,
  type JobReports,
  type LogLine,
  type LogQuery,
  isId,
  maxListedTransitions,
  type Transition,
} from '@longshore/jobs/storage';
import { byQueue } from '../connection/array-literal.js';
import { runInCallersTransaction } from '../connection/run.js';
import { claimArrays, type TouchedRow, without } from '../jobs/claim-arrays.js';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { JobRow } from '../jobs/job-row.js';
import { transitionsOf } from './job-transitions.js';
import type { PostgresJobReader } from './job-reader.js';
import { type TransitionRow, selectTransitions } from '../jobs/job-transitions.sql.js';
import {
  countLines,
  insertReports,
  type LogRow,
  selectLatestLines,
  selectLines,
} from '../jobs/reports.sql.js';

/** A row of `longshore.job_report`: a log line, or progress (with line number 0). */
interface Entry {
  /** The index of the claim to which the row belongs, from 1. */
  readonly place: number;
  readonly line: number;
  readonly at: Date;
  readonly level?: string;
  readonly percent?: number;
  readonly message: string | null;
  readonly fields?: string | null;
}

/** Stores progress and log lines, and reads log lines and transitions. */
export class PostgresReports implements JobReports {
  readonly clock: Clock;
  readonly #database: Database;
  readonly #reads: Database;
  readonly #queues: QueueIdCache;
  readonly #reader: PostgresJobReader;
  readonly #keptDays: number;

  /** @param retentionDays how many days reports are kept: the longest retention of any state */
  constructor(
    { database, reads }: { readonly database: Database; readonly reads: Database },
    clock: Clock,
    queues: QueueIdCache,
    reader: PostgresJobReader,
    retentionDays: number,
  ) {
    this.clock = clock;
    this.#database = database;
    this.#reads = reads;
    this.#queues = queues;
    this.#reader = reader;
    this.#keptDays = retentionDays;
  }

  async report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]> {
    const queues = transaction === undefined ? this.#queues : this.#queues.within(transaction);
    const stale: Claim[] = [];
    for (const [queue, group] of byQueue(
      reports.map((report) => ({ ...report, queue: report.claim.queue })),
    )) {
      const claims = group.map(({ claim }) => claim);
      const values = [await queues.idOf(queue), ...claimArrays(claims), this.#keptDays, ...columnsOf(group)];
      const rows =
        transaction === undefined
          ? await this.#database.query<TouchedRow>(insertReports, values)
          : await runInCallersTransaction(transaction, this.#database.schema)(insertReports, values);
      for (const claim of without(claims, rows as readonly TouchedRow[])) stale.push(claim);
    }
    return stale;
  }

  async listLogs(
    jobId: string,
    { attempt, after, limit = 100, offset = 0 }: LogQuery = {},
  ): Promise<LogLine[]> {
    const [start = '0', line = '0'] = (after ?? '').split('.').filter((part) => /^\d{1,16}$/.test(part));
    const { rows } = await this.#reportsOf(jobId, (of) =>
      this.#reads.query<LogRow>(selectLines, [...of, attempt ?? null, start, line, limit, offset]),
    );
    return rows;
  }

  async listLatestLogs(
    jobs: readonly Pick<Job, 'id' | 'queue' | 'createdAt'>[],
    limit: number,
  ): Promise<JobLogLine[]> {
    if (jobs.length === 0) return [];
    const queues = [...new Set(jobs.map(({ queue }) => queue))];
    const known = await Promise.all(
      queues.map(async (queue) => [queue, (await this.#queues.idsOf([queue]))[0]] as const),
    );
    const ids = new Map(known);
    const wanted = jobs.filter(({ id, queue }) => isId(id) && ids.get(queue) !== undefined);
    return this.#reads.query<LogRow & { jobId: string }>(selectLatestLines, [
      wanted.map(({ queue }) => ids.get(queue)),
      wanted.map(({ id }) => id),
      wanted.map(({ createdAt }) => createdAt.toISOString()),
      limit,
    ]);
  }

  async listTransitions(jobId: string, limit: number = maxListedTransitions): Promise<Transition[]> {
    const { job, rows } = await this.#reportsOf(jobId, (of) =>
      this.#reads.query<TransitionRow>(selectTransitions, [...of, limit]),
    );
    return job === undefined ? [] : transitionsOf(job, rows, limit);
  }

  async countLogs(jobId: string, { attempt }: Pick<LogQuery, 'attempt'> = {}): Promise<number> {
    const { rows } = await this.#reportsOf(jobId, (of) =>
      this.#reads.query<{ lines: number }>(countLines, [...of, attempt ?? null]),
    );
    return rows[0]?.lines ?? 0;
  }

  /**
   * Returns a job's row and the rows that `read` finds. The job is `undefined` if it does not exist. Reports move to
   * another queue together with their job. If `read` finds nothing and the job has moved, `read` is called again for
   * the new queue.
   *
   * @param read receives the queue id, the job id and the time at which the job was created
   */
  async #reportsOf<Row>(
    jobId: string,
    read: (of: unknown[]) => Promise<Row[]>,
  ): Promise<{ job: JobRow | undefined; rows: Row[] }> {
    let job = await this.#reader.findRow(jobId);
    while (job !== undefined) {
      const { queue_id: queueId, id, created_at: createdAt } = job;
      const rows = await read([queueId, id, createdAt]);
      if (rows.length > 0) return { job, rows };
      job = await this.#reader.findRow(jobId);
      if (job?.queue_id === queueId) return { job, rows };
    }
    return { job, rows: [] };
  }
}

/** Returns the entries of all reports as parallel arrays: the parameters of {@link insertReports} from $6 on. */
function columnsOf(reports: readonly JobReport[]): unknown[] {
  const entries = reports.flatMap(({ progress, lines }, index): Entry[] => [
    ...(progress === null ? [] : [{ place: index + 1, line: 0, ...progress }]),
    ...lines.map((line) => ({ place: index + 1, ...line })),
  ]);
  return [
    entries.map(({ place }) => place),
    entries.map(({ line }) => line),
    entries.map(({ at }) => at.toISOString()),
    entries.map(({ level }) => level ?? null),
    entries.map(({ percent }) => percent ?? null),
    entries.map(({ message }) => message),
    entries.map(({ fields }) => fields ?? null),
  ];
}
