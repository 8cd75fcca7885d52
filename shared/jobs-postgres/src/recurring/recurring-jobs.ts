import {
  type NewRecurringJob,
  type RecurringJob,
  RecurringJobOwnedError,
  type TransactionClient,
} from '@longshore/jobs';
import {
  type ActionOptions,
  checkPause,
  type Clock,
  type ControlOptions,
  type FiringReport,
  isSamePause,
  type JsonText,
  keepStoredDigits,
  type MissedRuns,
  type PauseOptions,
  maxListedRecurring,
  type RecurringFilter,
  type DecideRecurringJobs,
  type RecurringJobs,
  type RecurringJobsUpdate,
  type RecurringQuery,
  dueTimesCountAfter,
  type RemovalOptions,
  Schedule,
  type SynchronizationReport,
  type TriggeredJob,
  dueAt,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { PostgresEnqueuer } from '../enqueue/enqueuer.js';
import {
  afterCommit,
  inNewTransaction,
  type Run,
  runAlone,
  runInCallersTransaction,
} from '../connection/run.js';
import { inTransaction, recordWith } from '../records/audit.js';
import { pauseValues } from '../queues/pause.sql.js';
import type { Notifier } from '../notifications/notifier.js';
import { type FiringParts, RecurringFiring } from './firing.js';
import { synchronize } from './synchronization.js';
import { selectMissed } from './recurring-jobs.sql.js';
import * as sql from './recurring-jobs.sql.js';

type Row = sql.RecurringJobRow;

interface RecurringJobsParts extends FiringParts {
  readonly clock: Clock;
}

/** Stores recurring jobs, and fires them. Evaluates schedules in this process, with the database's time. */
export class PostgresRecurringJobs implements RecurringJobs {
  readonly #database: Database;
  readonly #enqueuer: PostgresEnqueuer;
  readonly #notifier: Notifier;
  readonly #firing: RecurringFiring;
  readonly #clock: Clock;

  constructor({ database, enqueuer, notifier, setAside, clock }: RecurringJobsParts) {
    this.#clock = clock;
    this.#database = database;
    this.#enqueuer = enqueuer;
    this.#notifier = notifier;
    this.#firing = new RecurringFiring({ database, enqueuer, notifier, setAside });
  }

  async addOrUpdate(job: NewRecurringJob): Promise<RecurringJob> {
    const next = new Schedule(job).next(await nowOf(runAlone(this.#database)));
    const values = sql.upsertValues(job, null, next);
    const [changed] = await this.#database.query<Row>(sql.upsertRecurringJob, values);
    this.#notifyDue(next);
    if (changed !== undefined) return sql.toRecurringJob(changed);
    const existing = await this.find(job.id);
    if (existing === null) return this.addOrUpdate(job); // the job was removed in between
    if (existing.application !== null) throw new RecurringJobOwnedError(job.id, existing.application);
    return existing;
  }

  async add(
    job: NewRecurringJob,
    options: ActionOptions<RecurringJob | null> = {},
  ): Promise<RecurringJob | null> {
    const added = await inTransaction(this.#database, options, async (run, record) => {
      const next = new Schedule(job).next(await nowOf(run));
      const values = sql.upsertValues(job, null, next);
      const [row] = (await run(sql.insertRecurringJob, values)) as readonly Row[];
      const result = row === undefined ? null : sql.toRecurringJob(row);
      await record(result);
      return result;
    });
    if (added !== null)
      await afterCommit(options.transaction, this.#database.schema, ['recurring'], () =>
        this.#notifyDue(added.nextDueAt),
      );
    return added;
  }

  async update(id: string, change: (current: RecurringJob) => NewRecurringJob): Promise<RecurringJob | null> {
    const [updated] = await this.updateAll([id], async (current) =>
      [...current.values()].map((job) => ({ ...change(job), id })),
    );
    return updated ?? null;
  }

  async updateAll(
    ids: readonly string[],
    change: DecideRecurringJobs,
    options: ActionOptions<RecurringJobsUpdate> = {},
  ): Promise<RecurringJob[]> {
    const updated = await inTransaction(this.#database, options, async (run, record) => {
      const rows = new Map<string, sql.RecurringJobRowNow>();
      for (const id of [...new Set(ids)].toSorted()) {
        const [row] = (await run(sql.lockRecurringJob, [id])) as readonly sql.RecurringJobRowNow[];
        if (row !== undefined) rows.set(id, row);
      }
      const before = new Map([...rows].map(([id, row]) => [id, sql.toRecurringJob(row)]));
      const jobs = await change(before);
      const results: Row[] = [];
      for (const job of jobs) {
        const row = rows.get(job.id);
        if (row === undefined)
          throw new Error(`The recurring job "${job.id}" is not among those to be changed`);
        if (row.application !== null) throw new RecurringJobOwnedError(job.id, row.application);
        const kept = { ...job, args: keepStoredDigits(row.args_text, job.args) };
        const values = sql.upsertValues(kept, null, new Schedule(job).next(row.now));
        results.push(((await run(sql.upsertRecurringJob, values)) as readonly Row[])[0] ?? row);
      }
      const result = { before, jobs: results.map(sql.toRecurringJob) };
      await record(result);
      return result.jobs;
    });
    await afterCommit(options.transaction, this.#database.schema, ['recurring'], () => {
      for (const { nextDueAt: next } of updated) this.#notifyDue(next);
    });
    return updated;
  }

  async remove(id: string, options: RemovalOptions = {}): Promise<boolean> {
    return inTransaction(this.#database, options, async (run, record) => {
      const existed = (await lockChecked(run, id, options.check)) !== undefined;
      if (existed) await run(sql.deleteRecurringJobs, [[id]]);
      await record(existed);
      return existed;
    });
  }

  async removeAll(ids: readonly string[], options: ActionOptions<string> = {}): Promise<number> {
    return inTransaction(this.#database, options, async (run, record) => {
      const removed = (await run(sql.deleteRecurringJobs, [[...ids]])) as readonly { id: string }[];
      for (const { id } of removed) await record(id);
      return removed.length;
    });
  }

  async find(id: string): Promise<RecurringJob | null> {
    const [row] = await this.#database.query<Row>(sql.selectRecurringJob, [id]);
    return row === undefined ? null : sql.toRecurringJob(row);
  }

  async findArgs(id: string): Promise<JsonText | null> {
    const [row] = await this.#database.query<{ args: string }>(sql.selectRecurringArgs, [id]);
    return row?.args ?? null;
  }

  async list(query: RecurringQuery = {}): Promise<RecurringJob[]> {
    const { order = 'ascending', after = null, limit = maxListedRecurring, offset = 0 } = query;
    const values = [...filterValues(query), after, limit, offset];
    const rows = await this.#database.query<Row>(sql.selectRecurringJobs[order], values);
    return rows.map(sql.toRecurringJob);
  }

  async count(filter: RecurringFilter = {}): Promise<number> {
    const [row] = await this.#database.query<{ jobs: number }>(sql.countRecurringJobs, filterValues(filter));
    return row?.jobs ?? 0;
  }

  async listMissed(ids: readonly string[], limit: number): Promise<MissedRuns[]> {
    return ids.length === 0 ? [] : this.#database.query<MissedRuns>(selectMissed, [ids, limit]);
  }

  async trigger(
    id: string,
    options: ControlOptions<RecurringJob, TriggeredJob | null> = {},
  ): Promise<TriggeredJob | null> {
    const { transaction } = options;
    if (transaction !== undefined) return this.#trigger(transaction, id, options);
    const found = await this.find(id);
    // Caches the queue's id, so that the transaction needs no second connection.
    if (found !== null) await this.#enqueuer.ensureQueue(found.queue);
    return inNewTransaction(this.#database, (within) => this.#trigger(within, id, options));
  }

  async #trigger(
    transaction: TransactionClient,
    id: string,
    options: ControlOptions<RecurringJob, TriggeredJob | null>,
  ): Promise<TriggeredJob | null> {
    const run = runInCallersTransaction(transaction, this.#database.schema);
    const record = recordWith(run, options);
    const row = await lockChecked(run, id, options.check);
    if (row === undefined) {
      await record(null);
      return null;
    }
    const job = sql.toRun(row);
    const holderId = (await this.#enqueuer.enqueue([job], transaction)).holders.get(job.id);
    const created = holderId === undefined;
    const recurringJob = sql.toRecurringJob(row);
    const triggered = { id: holderId ?? job.id, created, queue: job.queue, recurringJob };
    await record(triggered);
    return triggered;
  }

  async pause(
    id: string,
    options: ControlOptions<RecurringJob, RecurringJob | null> & PauseOptions = {},
  ): Promise<RecurringJob | null> {
    const pause = checkPause(options, this.#clock.now());
    const paused = await this.#control(id, options, async (run, row) => {
      if (isSamePause(sql.toRecurringJob(row), pause)) return [row];
      return (await run(sql.pauseRecurringJob, [id, ...pauseValues(pause)])) as Row[];
    });
    const end = dueAt('pause', pause.until, this.#clock.now());
    if (end !== undefined)
      await afterCommit(options.transaction, this.#database.schema, ['pause'], () =>
        this.#notifier.notify(end),
      );
    return paused;
  }

  async resume(
    id: string,
    options: ControlOptions<RecurringJob, RecurringJob | null> = {},
  ): Promise<RecurringJob | null> {
    const resumed = await this.#control(id, options, async (run, row) => {
      if (row.paused_at === null) return [row];
      const job = sql.toRecurringJob(row);
      const next = new Schedule(job).next(dueTimesCountAfter(job, row.now));
      return (await run(sql.resumeRecurringJob, [id, next])) as Row[];
    });
    if (resumed !== null)
      await afterCommit(options.transaction, this.#database.schema, ['recurring'], () =>
        this.#notifyDue(resumed.nextDueAt),
      );
    return resumed;
  }

  #control(
    id: string,
    options: ControlOptions<RecurringJob, RecurringJob | null> = {},
    change: (run: Run, row: sql.RecurringJobRowNow) => Promise<readonly Row[]>,
  ): Promise<RecurringJob | null> {
    return inTransaction(this.#database, options, async (run, record) => {
      const row = await lockChecked(run, id, options.check);
      await record(row === undefined ? null : sql.toRecurringJob(row));
      if (row === undefined) return null;
      const [after = row] = await change(run, row);
      return sql.toRecurringJob(after);
    });
  }

  async synchronize(application: string, jobs: readonly NewRecurringJob[]): Promise<SynchronizationReport> {
    const report = await this.#database.transaction((client) => synchronize(client, application, jobs));
    if (report.added.length + report.updated.length > 0)
      this.#notifier.notify({ kind: 'recurring', inMs: 0 });
    return report;
  }

  #notifyDue(next: Date | null): void {
    const notification = dueAt('recurring', next, this.#clock.now());
    if (notification !== undefined) this.#notifier.notify(notification);
  }

  fireDue(limit: number): Promise<FiringReport> {
    return this.#firing.fireDue(limit);
  }
}

function filterValues({ names, queues, applications }: RecurringFilter): unknown[] {
  return [names ?? null, queues ?? null, applications ?? null];
}

async function nowOf(run: Run): Promise<Date> {
  const [row] = (await run(sql.selectNow, [])) as readonly { now: Date }[];
  if (row === undefined) throw new Error('The database did not return its time');
  return row.now;
}

/**
 * Locks a recurring job until the transaction ends, and passes the job to `check`. Returns the job's row; `undefined`
 * if there is no such job.
 */
async function lockChecked(
  run: Run,
  id: string,
  check: ControlOptions<RecurringJob>['check'],
): Promise<sql.RecurringJobRowNow | undefined> {
  const [row] = (await run(sql.lockRecurringJob, [id])) as readonly sql.RecurringJobRowNow[];
  if (row !== undefined) check?.(sql.toRecurringJob(row));
  return row;
}
