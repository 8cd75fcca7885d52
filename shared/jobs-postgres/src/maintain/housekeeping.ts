import {
  deploymentDays,
  idleQueueDays,
  missedRunDays,
  type RetentionDays,
  throughputKept,
  timingsKept,
  outbox,
  type Notification,
} from '@longshore/jobs/storage';
import { tuneShards } from './shards.sql.js';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { deleteOldAudit } from '../records/audit.js';
import { deleteOldDeployments } from '../records/deployments.sql.js';
import { deleteOldBatches } from '../dependencies/batches.sql.js';
import { deleteOldBulk } from '../records/bulk-operations.sql.js';
import type { CancellationRequests } from '../claim/cancellation-requests.js';
import { recordKeysWithRoom } from '../dependencies/concurrency-semaphore.sql.js';
import { foldCounts } from '../queues/counters.sql.js';
import { deleteOldDependencies } from '../jobs/dependencies.sql.js';
import { deleteOldThroughput } from '../statistics/statistics.sql.js';
import { retireIdleQueues, returnQueues } from '../control/queues.sql.js';
import type { PostgresTimings } from '../statistics/timings.js';
import { deleteOldTimings } from '../statistics/timings.sql.js';
import { deleteOldMissed } from '../recurring/missed-runs.sql.js';
import { deleteGoneMovedJobs } from '../enqueue/unique-keys.sql.js';
import { BloatControl } from './bloat-control.js';
import { Chores } from './chores.js';
import { type DueChores, findChores } from './chores.sql.js';
import { FirstFailures } from '../statistics/first-failures.js';
import { GapCleaner } from './gap-cleaner.js';
import { HistoryDays } from '../history/history-days.js';
import { KeySweeper } from './key-sweeper.js';
import { Retention } from '../history/retention.js';
import { deleteOldAside } from '../records/set-aside.sql.js';
import type { PostgresSetAside } from '../records/set-aside.js';

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
