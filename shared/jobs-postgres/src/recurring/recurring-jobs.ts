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
  type FiredRecurringJob,
  type FiringReport,
  isSamePause,
  buildRecurringRun,
  type JsonText,
  keepStoredDigits,
  type MissedRuns,
  type NewJob,
  type PauseOptions,
  planFiring,
  roomFor,
  maxListedRecurring,
  type RecurringFilter,
  type DecideRecurringJobs,
  type RecurringJobs,
  type RecurringJobsUpdate,
  type RecurringQuery,
  dueTimesCountAfter,
  type RemovalOptions,
  type SynchronizationReport,
  type TriggeredJob,
  readyIn,
  outbox,
  dueAt,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { bisecting } from '../connection/isolation.js';
import type { PostgresEnqueuer } from '../enqueue/enqueuer.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import { afterCommit, type Run, runAlone, runInCallersTransaction } from '../connection/run.js';
import { inTransaction, recordWith } from '../records/audit.js';
import { pauseValues } from '../queues/pause.sql.js';
import type { Notifier } from '../notifications/notifier.js';
import { nextDueAt, query, synchronize } from './synchronization.js';
import { recordMissed, selectMissed } from './recurring-jobs.sql.js';
import * as sql from './recurring-jobs.sql.js';

type Row = sql.RecurringJobRow;
/**
 * If a recurring job was due, the next attempt to fire follows within this many milliseconds. A recurring job can stay
 * due, for example while it waits for its last job to end.
 */
const waitMs = 1_000;

/** A row with the database's time, and with the arguments as JSON text, which preserves all digits of numbers. */
type RowNow = Row & { now: Date; args_text: JsonText };

interface RecurringJobsParts {
  readonly database: Database;
  readonly enqueuer: PostgresEnqueuer;
  readonly notifier: Notifier;
  readonly setAside: PostgresSetAside;
  readonly clock: Clock;
}

/** Stores and fires recurring jobs. Evaluates cron expressions in this process, with the database's time. */
export class PostgresRecurringJobs implements RecurringJobs {
  readonly #database: Database;
  readonly #enqueuer: PostgresEnqueuer;
  readonly #notifier: Notifier;
  readonly #setAside: PostgresSetAside;

  readonly #clock: Clock;

  constructor({ database, enqueuer, notifier, setAside, clock }: RecurringJobsParts) {
    this.#clock = clock;
    this.#database = database;
    this.#enqueuer = enqueuer;
    this.#notifier = notifier;
    this.#setAside = setAside;
  }

  async addOrUpdate(job: NewRecurringJob): Promise<RecurringJob> {
    const next = nextDueAt(job, await nowOf(runAlone(this.#database)));
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
      const next = nextDueAt(job, await nowOf(run));
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
      const rows = new Map<string, RowNow>();
      for (const id of [...new Set(ids)].toSorted()) {
        const [row] = (await run(sql.lockRecurringJob, [id])) as readonly RowNow[];
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
        const values = sql.upsertValues(kept, null, nextDueAt(job, row.now));
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
    const afterwards: (() => void)[] = [];
    const triggered = await this.#database.transaction((client) => {
      afterwards.length = 0;
      const within: TransactionClient = {
        query: (text, values) => client.query(text, values),
        afterCommit: (act) => void afterwards.push(act),
      };
      return this.#trigger(within, id, options);
    });
    for (const act of afterwards) act();
    return triggered;
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
    const job = newJob(row, row.now);
    await this.#enqueuer.enqueue([job], transaction);
    const triggered = { id: job.id, queue: job.queue, recurringJob: sql.toRecurringJob(row) };
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
      const next = nextDueAt(job, dueTimesCountAfter(job, row.now));
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
    change: (run: Run, row: RowNow) => Promise<readonly Row[]>,
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

  async fireDue(limit: number): Promise<FiringReport> {
    const [next] = await this.#database.query<{ due: boolean; next_due_in: number }>(sql.nextDueRecurring);
    const fired: FiredRecurringJob[] = [];
    const queues = new Set<string>();
    let isBlocked = false;
    if (next?.due === true) {
      await this.#database.transaction(async (client) => {
        fired.length = 0;
        queues.clear();
        isBlocked = false;
        const rows = await query<RowNow>(client, sql.lockDueRecurring, [limit]);
        const busy = await this.#busy(client, rows);
        for (const row of rows) {
          const [outcome = null] = await bisecting(client)(
            [row],
            () => this.#fire(client, row, busy.has(row.id)),
            (_, error) => this.#setAside.put(client, { role: 'recurring', key: row.id }, error),
          );
          if (outcome === null) continue;
          fired.push(outcome);
          if (outcome.jobIds.length === 0) continue;
          if (row.concurrency_key === null) queues.add(row.queue);
          else isBlocked = true;
        }
      });
      const ids = fired.map(({ id }) => id);
      if (ids.length > 0) await this.#setAside.removeProcessed('recurring', ids);
    }
    for (const queue of queues) this.#notifier.notify(readyIn(queue));
    if (isBlocked) this.#notifier.notify(outbox);
    const nextDueMs = fired.length > 0 ? 0 : (next?.next_due_in ?? null);
    return { fired, nextDueMs: next?.due === true ? Math.min(nextDueMs ?? Infinity, waitMs) : nextDueMs };
  }

  async #fire(client: Connection, row: RowNow, busy: boolean): Promise<FiredRecurringJob | null> {
    if (row.next_due_at === null) return null;
    const recurring = sql.toRecurringJob(row);
    const firing = planFiring(recurring, row.next_due_at, row.now, busy, await this.#room(client, recurring));
    if (firing === null) return null;
    const jobs = firing.dueTimes.map(() => newJob(row, row.now));
    if (jobs.length > 0) await this.#enqueuer.enqueue(jobs, client);
    const last = [firing.dueTimes.at(-1) ?? null, jobs.at(-1)?.id ?? null];
    await query(client, sql.advanceRecurring, [row.id, firing.nextDueAt, ...last]);
    const { skipped } = firing;
    if (skipped !== null)
      await query(client, recordMissed, [row.id, skipped.from, skipped.until, skipped.reason]);
    return { id: row.id, jobIds: jobs.map(({ id }) => id), skipped };
  }

  async #room(client: Connection, job: RecurringJob): Promise<number> {
    if (job.maxBacklog === null) return Infinity;
    const [ready] = await query<{ jobs: number }>(client, sql.selectReadyJobs, [job.queue]);
    return roomFor(job, ready?.jobs ?? 0);
  }

  async #busy(client: Connection, rows: readonly Row[]): Promise<Set<string>> {
    const ids = rows.filter(({ overlap }) => overlap !== 'allow').map(({ id }) => id);
    if (ids.length === 0) return new Set();
    return new Set((await query<{ id: string }>(client, sql.selectBusy, [ids])).map(({ id }) => id));
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
): Promise<RowNow | undefined> {
  const [row] = (await run(sql.lockRecurringJob, [id])) as readonly RowNow[];
  if (row !== undefined) check?.(sql.toRecurringJob(row));
  return row;
}

function newJob(row: RowNow, now: Date): NewJob {
  return buildRecurringRun(sql.toRecurringJob(row), row.args_text, now);
}
