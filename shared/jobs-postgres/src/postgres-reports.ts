import type {
  Claim,
  Clock,
  JobLogReader,
  JobReport,
  JobReports,
  LogLine,
  LogQuery,
  TransactionClient,
  Transition,
} from '@longshore/jobs';
import { byQueue } from './by-queue.js';
import { claimArrays, type TouchedRow, without } from './claim-arrays.js';
import type { Database } from './database.js';
import { transitionsOf } from './job-transitions.js';
import type { PostgresReader } from './postgres-reader.js';
import type { QueueDirectory } from './queue-directory.js';
import { type MoveRow, selectMoves } from './sql/job-moves.js';
import { countLines, insertReports, type LogRow, selectLines } from './sql/job-reports.js';

/** One row of the table: progress, or a line. */
interface Entry {
  /** Of its claim among all, from 1. */
  readonly place: number;
  readonly line: number;
  readonly at: Date;
  readonly level?: string;
  readonly percent?: number;
  readonly message: string | null;
  readonly fields?: string | null;
}

/** What attempts say of themselves, progress and logs, and what else becomes of jobs. */
export class PostgresReports implements JobReports, JobLogReader {
  readonly clock: Clock;
  readonly #database: Database;
  readonly #queues: QueueDirectory;
  readonly #reader: PostgresReader;
  readonly #keptDays: number;

  /** @param keptDays as long as the longest history */
  constructor(
    database: Database,
    clock: Clock,
    queues: QueueDirectory,
    reader: PostgresReader,
    keptDays: number,
  ) {
    this.clock = clock;
    this.#database = database;
    this.#queues = queues;
    this.#reader = reader;
    this.#keptDays = keptDays;
  }

  async report(reports: readonly JobReport[], transaction?: TransactionClient): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const [queue, group] of byQueue(
      reports.map((report) => ({ ...report, queue: report.claim.queue })),
    )) {
      const claims = group.map(({ claim }) => claim);
      const values = [
        await this.#queues.idOf(queue),
        ...claimArrays(claims),
        this.#keptDays,
        ...columnsOf(group),
      ];
      const rows =
        transaction === undefined
          ? await this.#database.query<TouchedRow>(insertReports, values)
          : (await transaction.query(insertReports.text, values)).rows;
      stale.push(...without(claims, rows as readonly TouchedRow[]));
    }
    return stale;
  }

  async listLogs(
    jobId: string,
    { attempt, after, limit = 100, offset = 0 }: LogQuery = {},
  ): Promise<LogLine[]> {
    const job = await this.#reader.findRow(jobId);
    if (job === undefined) return [];
    const [start = '0', line = '0'] = (after ?? '').split('.').filter((part) => /^\d{1,16}$/.test(part));
    const values = [job.queue_id, job.id, job.created_at, attempt ?? null, start, line, limit, offset];
    return this.#database.query<LogRow>(selectLines, values);
  }

  async listTransitions(jobId: string): Promise<Transition[]> {
    const job = await this.#reader.findRow(jobId);
    if (job === undefined) return [];
    const values = [job.queue_id, job.id, job.created_at];
    return transitionsOf(job, await this.#database.query<MoveRow>(selectMoves, values));
  }

  async countLogs(jobId: string, { attempt }: Pick<LogQuery, 'attempt'> = {}): Promise<number> {
    const job = await this.#reader.findRow(jobId);
    if (job === undefined) return 0;
    const values = [job.queue_id, job.id, job.created_at, attempt ?? null];
    const [row] = await this.#database.query<{ lines: number }>(countLines, values);
    return row?.lines ?? 0;
  }
}

/** The entries of all reports, column by column. */
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
