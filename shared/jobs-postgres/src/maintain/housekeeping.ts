import {
  deploymentDays,
  idleQueueDays,
  missedRunDays,
  type RetentionDays,
  serverVersionDays,
  throughputKept,
  timingsKept,
  outbox,
  type Notification,
} from '@longshore/jobs/storage';
import { tuneShards } from './shards.sql.js';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { deleteOldAudit } from '../records/audit.js';
import { deleteOldDeployments, deleteOldVersions } from '../records/deployments.js';
import { deleteOldBatches } from '../dependencies/batches.sql.js';
import { deleteOldBulk } from '../records/bulk-operations.sql.js';
import type { CancellationRequests } from '../claim/cancellation-requests.js';
import { deleteFullKeyRates, recordKeysWithRoom } from '../dependencies/concurrency-keys.sql.js';
import { foldCounts } from '../queues/counters.js';
import { deleteOldDependencies } from '../jobs/dependencies.sql.js';
import { deleteOldThroughput } from '../statistics/statistics.js';
import { retireIdleQueues, returnQueues } from '../control/queues.sql.js';
import type { PostgresTimings } from '../statistics/timings.js';
import { deleteOldTimings } from '../statistics/timings.sql.js';
import { deleteOldMissed } from '../recurring/recurring-jobs.sql.js';
import { deleteGoneMovedJobs, sweepUnique, type SweptRow } from '../enqueue/unique-keys.sql.js';
import { StepSweeper } from './step-sweeper.js';
import { BloatControl } from './bloat-control.js';
import { Chores, type DueChores, findChores } from './chores.js';
import { FirstFailures } from '../statistics/first-failures.js';
import { HistoryDays } from '../history/history-days.js';
import { Retention } from '../history/retention.js';
import { deleteOldAside, type PostgresSetAside } from '../records/set-aside.js';
import { deleteGaps, oldestTransaction } from '../jobs/ready-scans.sql.js';

const hourMs = 3_600_000;

const roomCheckIntervalMs = 60_000;

/** Delay before the hourly chores are repeated after one of them has thrown, in milliseconds. */
const retryMs = 60_000;

/** Maximum number of recorded job ids that {@link deleteOldBulk} deletes at once. */
const idsAtOnce = 10_000;

/** Number of redundant rows at which the counters are folded. */
const foldAt = 100;

/** Runs the periodic chores that keep reads cheap and enforce retention. */
export class Housekeeping {
  readonly days: HistoryDays;
  readonly #database: Database;
  readonly #retention: Retention;
  readonly #chores: Chores;
  readonly #keys: KeySweeper;
  readonly #steps: StepSweeper;
  readonly #bloat: BloatControl;
  readonly #gaps: GapCleaner;
  readonly #firstFailures: FirstFailures;
  readonly #timings: PostgresTimings;
  readonly #notify: (notification: Notification) => void;
  readonly #requests: CancellationRequests;
  #cleanedAt = -Infinity;
  #oldDaysDroppedAt = -Infinity;
  #roomCheckedAt = performance.now();

  constructor(
    database: Database,
    clock: DatabaseClock,
    retentionDays: RetentionDays,
    setAside: PostgresSetAside,
    timings: PostgresTimings,
    notify: (notification: Notification) => void,
    requests: CancellationRequests,
  ) {
    this.#notify = notify;
    this.#requests = requests;
    this.#timings = timings;
    this.#database = database;
    this.#chores = new Chores(setAside);
    this.days = new HistoryDays(database);
    this.#keys = new KeySweeper(database);
    this.#steps = new StepSweeper(database);
    this.#bloat = new BloatControl(database);
    this.#gaps = new GapCleaner(database);
    this.#firstFailures = new FirstFailures(database, clock);
    this.#retention = new Retention(database, retentionDays);
  }

  /**
   * Runs the chores that are due. Resolves to `true` if job activity had created some of the work, such as counters to
   * fold or timings to store. Chores that run on a schedule do not count.
   */
  async runOnce(): Promise<boolean> {
    const chores = this.#chores;
    const [due] = await this.#database.query<DueChores>(findChores);
    if (due === undefined) throw new Error('Postgres did not return the chores');
    const folds = due.foldable >= foldAt;
    if (folds) await chores.do('fold counters', () => this.#database.query(foldCounts));
    let recorded = false;
    await chores.do('store timings', async () => {
      recorded = await this.#timings.maintain();
    });
    await chores.do('rewrite small tables', () => this.#bloat.runOnce(due.bloated));
    await chores.do('delete old gaps', () => this.#gaps.runOnce());
    if (due.missed) await chores.do('cancel jobs with missed requests', () => this.#cancelIdle());
    await chores.do('sweep keys', () => this.#keys.runOnce());
    await chores.do('sweep steps', () => this.#steps.runOnce());
    await chores.do('make partitions', () => this.days.runOnce(due.strays));
    if (due.returning) await chores.do('bring queues back', () => this.#database.query(returnQueues));
    await chores.do('record errors', () => this.#firstFailures.runOnce());
    await this.#runRarely();
    return folds || recorded || due.bloated.length > 0 || due.missed || due.strays || due.returning;
  }

  async #runRarely(): Promise<void> {
    const chores = this.#chores;
    if (performance.now() - this.#oldDaysDroppedAt >= hourMs) {
      await chores.do('drop old history', () => this.#retention.dropOldDays());
      this.#oldDaysDroppedAt = performance.now();
    }
    if (performance.now() - this.#roomCheckedAt >= roomCheckIntervalMs)
      await chores.do('unblock jobs', () => this.recordRoom());
    if (performance.now() - this.#cleanedAt < hourMs) return;
    // If a chore throws, for example during an outage, all of them are repeated after a minute.
    this.#cleanedAt = performance.now() - hourMs + retryMs;
    await chores.do('retire idle queues', () => this.#database.query(retireIdleQueues, [idleQueueDays]));
    await chores.do('delete old batches', () => this.#database.query(deleteOldBatches));
    await chores.do('delete old bulk operations', () => this.#deleteOldBulks());
    await chores.do('delete old audit entries', () => this.#database.query(deleteOldAudit));
    const { all, queue } = throughputKept;
    await chores.do('delete old throughput', () =>
      this.#database.query(deleteOldThroughput, [all.forMs, queue.forMs]),
    );
    const { minute, hour } = timingsKept;
    await chores.do('delete old timings', () =>
      this.#database.query(deleteOldTimings, [minute.forMs, hour.forMs]),
    );
    await chores.do('delete old deployments', () =>
      this.#database.query(deleteOldDeployments, [deploymentDays]),
    );
    await chores.do('forget versions of stopped servers', () =>
      this.#database.query(deleteOldVersions, [serverVersionDays]),
    );
    await chores.do('forget old errors', () => this.#firstFailures.deleteOld());
    await chores.do('delete old missed runs', () => this.#database.query(deleteOldMissed, [missedRunDays]));
    await chores.do('delete old dependencies', () => this.#database.query(deleteOldDependencies));
    await chores.do('delete moves of deleted jobs', () =>
      this.#database.query(deleteGoneMovedJobs, [10_000]),
    );
    await chores.do('delete old set-aside items', () => this.#database.query(deleteOldAside));
    if (this.#database.schema.isDistributed)
      await chores.do('tune shards', () => this.#database.query(tuneShards));
    this.#cleanedAt = performance.now();
  }

  async recordRoom(): Promise<void> {
    this.#roomCheckedAt = performance.now();
    const noted = await this.#database.query(recordKeysWithRoom);
    await this.#database.query(deleteFullKeyRates);
    if (noted.length > 0) this.#notify(outbox);
  }

  /** Deletes old bulk operations in small steps, because one operation may have recorded millions of jobs. */
  async #deleteOldBulks(): Promise<void> {
    for (;;) {
      const [row] = await this.#database.query<{ more: boolean }>(deleteOldBulk, [idsAtOnce]);
      if (row?.more !== true) return;
    }
  }

  /**
   * Cancels jobs whose attempt ended before the server noticed the cancellation request. Otherwise, these jobs could
   * run again.
   */
  async #cancelIdle(): Promise<void> {
    for (const request of await this.#requests.idle())
      await this.#chores.do(`cancel ${request.jobId}`, () => this.#requests.carryOut(request), request);
  }
}

/**
 * How long, in milliseconds, scan gaps are kept after their transactions have ended. A server that has not read the
 * gaps for half of this time restarts its scans.
 */
const keptMs = 60_000;

/** Deletes scan gaps once every server has read them or no longer needs them. */
export class GapCleaner {
  readonly #database: Database;
  /** The oldest transaction that was in progress at `atMs`; all earlier ones had ended by then. */
  #endedBefore: { readonly xid: string; readonly atMs: number } | undefined;
  /**
   * The gaps of all transactions with ids lower than this one have been deleted. The next deletion starts here, so that
   * it does not scan the dead index entries of those gaps.
   */
  #deletedBefore = '0';

  constructor(database: Database) {
    this.#database = database;
  }

  async runOnce(nowMs = performance.now()): Promise<void> {
    const ended = this.#endedBefore;
    if (ended !== undefined && nowMs - ended.atMs < keptMs) return;
    if (ended !== undefined) {
      await this.#database.query(deleteGaps, [this.#deletedBefore, ended.xid]);
      this.#deletedBefore = ended.xid;
    }
    const [row] = await this.#database.query<{ xid: string }>(oldestTransaction);
    if (row !== undefined) this.#endedBefore = { xid: row.xid, atMs: nowMs };
  }
}

/** Maximum number of keys scanned by one statement. */
const chunk = 1_000;

/** Pause after a scan that found few stale keys, in milliseconds. */
const restMs = 15_000;

/** If at least this share of the scanned keys is stale, the next scan follows without a pause. */
const worthwhile = 0.25;

const start: readonly [queueId: number, scope: string, key: string] = [0, '', ''];

/**
 * Deletes stale keys: unique keys and idempotency keys that no longer have an effect. Scans the table in chunks, and
 * pauses after a chunk with few stale keys.
 */
export class KeySweeper {
  readonly #database: Database;
  #after = start;
  #restsUntil = -Infinity;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Scans the next chunk. Does nothing during a pause. */
  async runOnce(): Promise<void> {
    if (performance.now() < this.#restsUntil) return;
    const { seen, stale } = await this.sweep();
    if (stale === 0 || stale < seen * worthwhile) this.#restsUntil = performance.now() + restMs;
  }

  /**
   * Scans the next chunk, even during a pause. Resolves to the number of keys scanned and the number of stale keys
   * deleted.
   */
  async sweep(): Promise<{ seen: number; stale: number }> {
    const rows = await this.#database.query<SweptRow>(sweepUnique, [...this.#after, chunk]);
    const last = rows.length < chunk ? undefined : rows.at(-1);
    this.#after = last === undefined ? start : [last.queue_id, last.namespace, last.key];
    return { seen: rows.length, stale: rows.filter(({ stale }) => stale).length };
  }
}
