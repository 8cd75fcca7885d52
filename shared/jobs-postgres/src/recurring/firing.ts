import type { RecurringJob } from '@longshore/jobs';
import {
  type FiredRecurringJob,
  type FiringReport,
  outbox,
  planFiring,
  readyIn,
  roomFor,
  withoutDuplicate,
} from '@longshore/jobs/storage';
import type { Connection } from '../connection/connection.js';
import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import { bisecting } from '../connection/isolation.js';
import { lockTimeoutOnNodes, type Settings } from '../connection/session.js';
import type { PostgresEnqueuer } from '../enqueue/enqueuer.js';
import type { Notifier } from '../notifications/notifier.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import * as sql from './recurring-jobs.sql.js';
import { query } from './synchronization.js';

type Row = sql.RecurringJobRowNow;

/**
 * If a recurring job was due, the next attempt to fire follows within this many milliseconds. A recurring job can stay
 * due, for example while it waits for its last job to end.
 */
const waitMs = 1_000;

/** How long a recurring job waits for its unique key while another transaction has locked the key, in milliseconds. */
const keyWaitMs = '250';

export interface FiringParts {
  readonly database: Database;
  readonly enqueuer: PostgresEnqueuer;
  readonly notifier: Notifier;
  readonly setAside: PostgresSetAside;
}

/** Jobs that a transaction has enqueued for recurring jobs. */
interface Round {
  readonly fired: readonly FiredRecurringJob[];
  /** The recurring jobs that were locked. */
  readonly rows: readonly Row[];
}

/** Enqueues the jobs of due recurring jobs. */
export class RecurringFiring {
  readonly #database: Database;
  readonly #enqueuer: PostgresEnqueuer;
  readonly #notifier: Notifier;
  readonly #setAside: PostgresSetAside;

  constructor({ database, enqueuer, notifier, setAside }: FiringParts) {
    this.#database = database;
    this.#enqueuer = enqueuer;
    this.#notifier = notifier;
    this.#setAside = setAside;
  }

  /**
   * See {@link RecurringJobs.fireDue}. Recurring jobs with unique keys are fired in transactions of their own, because another
   * transaction can have locked a key: the others do not wait for it, and no transaction waits while it holds another key.
   */
  async fireDue(limit: number): Promise<FiringReport> {
    const [next] = await this.#database.query<{ due: boolean; next_due_in: number }>(sql.nextDueRecurring);
    if (next?.due !== true) return { fired: [], nextDueMs: next?.next_due_in ?? null };
    const { fired: unkeyed, rows } = await this.#round((client) =>
      this.#lockAndFire(client, [limit, null], ({ uniqueness }) => uniqueness === null),
    );
    const fired = [...unkeyed];
    for (const { id, uniqueness } of rows)
      if (uniqueness !== null) fired.push(...(await this.#fireWithKey(id)));
    const ids = fired.map(({ id }) => id);
    if (ids.length > 0) await this.#setAside.removeProcessed('recurring', ids);
    return { fired, nextDueMs: fired.length > 0 ? 0 : Math.min(next.next_due_in, waitMs) };
  }

  /** Fires a recurring job with a unique key, unless another transaction holds a lock on the key: it then stays due. */
  async #fireWithKey(id: string): Promise<readonly FiredRecurringJob[]> {
    try {
      const { fired } = await this.#round(
        async (client) => {
          // On a Citus cluster, keys are locked on the nodes.
          if (this.#database.options.distribution === 'citus')
            await client.query(lockTimeoutOnNodes(keyWaitMs));
          return this.#lockAndFire(client, [1, id], () => true);
        },
        { lock_timeout: keyWaitMs },
      );
      return fired;
    } catch (error) {
      if (sqlStateOf(error) !== '55P03') throw error;
      return [];
    }
  }

  /** Runs `work` in a transaction, and notifies servers of the new jobs. */
  async #round(work: (client: Connection) => Promise<Round>, settings?: Settings): Promise<Round> {
    const round = await this.#database.transaction(work, settings);
    const enqueued = new Set(round.fired.filter(({ jobIds }) => jobIds.length > 0).map(({ id }) => id));
    const rows = round.rows.filter(({ id }) => enqueued.has(id));
    const plain = rows.filter((row) => row.concurrency_key === null);
    for (const queue of new Set(plain.map((row) => row.queue))) this.#notifier.notify(readyIn(queue));
    if (plain.length < rows.length) this.#notifier.notify(outbox);
    return round;
  }

  /**
   * @param due the parameters of {@link sql.lockDueRecurring}
   * @param isWanted returns whether to fire a recurring job that was locked
   */
  async #lockAndFire(
    client: Connection,
    due: readonly [limit: number, id: string | null],
    isWanted: (row: Row) => boolean,
  ): Promise<Round> {
    const rows = await query<Row>(client, sql.lockDueRecurring, [...due]);
    const wanted = rows.filter(isWanted);
    const busy = await this.#busy(client, wanted);
    const fired: FiredRecurringJob[] = [];
    for (const row of wanted) {
      const [outcome = null] = await bisecting(client)(
        [row],
        () => this.#fire(client, row, busy.has(row.id)),
        (_, error) => this.#setAside.put(client, { role: 'recurring', key: row.id }, error),
      );
      if (outcome !== null) fired.push(outcome);
    }
    return { fired, rows };
  }

  async #fire(client: Connection, row: Row, busy: boolean): Promise<FiredRecurringJob | null> {
    if (row.next_due_at === null) return null;
    const recurring = sql.toRecurringJob(row);
    const planned = planFiring(
      recurring,
      row.next_due_at,
      row.now,
      busy,
      await this.#room(client, recurring),
    );
    if (planned === null) return null;
    const runs = planned.dueTimes.map(() => sql.toRun(row));
    const isDuplicate = runs.length > 0 && (await this.#enqueuer.enqueue(runs, client)).holders.size > 0;
    const firing = isDuplicate ? withoutDuplicate(planned, row.next_due_at, row.now) : planned;
    const jobs = isDuplicate ? [] : runs;
    const last = [firing.dueTimes.at(-1) ?? null, jobs.at(-1)?.id ?? null];
    await query(client, sql.advanceRecurring, [row.id, firing.nextDueAt, ...last]);
    const { skipped } = firing;
    if (skipped !== null)
      await query(client, sql.recordMissed, [row.id, skipped.from, skipped.until, skipped.reason]);
    return { id: row.id, jobIds: jobs.map(({ id }) => id), skipped };
  }

  async #room(client: Connection, job: RecurringJob): Promise<number> {
    if (job.maxBacklog === null) return Infinity;
    const [backlog] = await query<{ jobs: number }>(client, sql.selectBacklog, [job.queue]);
    return roomFor(job, backlog?.jobs ?? 0);
  }

  async #busy(client: Connection, rows: readonly Row[]): Promise<Set<string>> {
    const ids = rows.filter(({ overlap }) => overlap !== 'allow').map(({ id }) => id);
    if (ids.length === 0) return new Set();
    return new Set((await query<{ id: string }>(client, sql.selectBusy, [ids])).map(({ id }) => id));
  }
}
