import {
  type Maintenance,
  type PromotionReport,
  type RescueReport,
  type ResumptionReport,
  outbox,
  readyJobs,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { PacedScan } from '../claim/paced-scan.js';
import type { OutboxRelay } from '../dependencies/outbox-relay.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { ReadyScans } from '../claim/ready-scans.js';
import { endTransactions } from '../servers/servers.sql.js';
import type { Notifier } from '../notifications/notifier.js';
import { selectWaking, wakeKeys } from '../dependencies/concurrency-keys.sql.js';
import { DueScan } from './due-scan.js';
import type { HistoryIndexes } from '../history/history-indexes.js';
import type { Housekeeping } from './housekeeping.js';
import type { Resumptions } from './resumptions.js';
import type { PostgresSetAside } from '../records/set-aside.js';
import { type Moving, QueueSweep } from './queue-sweep.js';
import { type PromotedRow, promoteDue, promoteSome, selectDue } from './promotion.sql.js';
import {
  declareServersDead,
  findLosses,
  type LossRow,
  type RescuedRow,
  rescueJobs,
  rescueSome,
  selectLost,
  type SilentRow,
} from './rescue.sql.js';

const promoting: Moving = { role: 'scheduler', all: promoteDue, some: promoteSome, select: selectDue };
const rescuing: Moving = { role: 'rescuer', all: rescueJobs, some: rescueSome, select: selectLost };

interface MaintenanceParts {
  readonly database: Database;
  readonly queues: QueueIdCache;
  readonly notifier: Notifier;
  readonly scans: ReadyScans;
  readonly outbox: OutboxRelay;
  readonly housekeeping: Housekeeping;
  readonly historyIndexes: HistoryIndexes;
  readonly setAside: PostgresSetAside;
  readonly resumptions: Resumptions;
}

/** Promotes due jobs, ends pauses that have expired, resolves dependencies, rescues lost jobs and runs housekeeping. */
export class PostgresMaintenance implements Maintenance {
  readonly #parts: MaintenanceParts;
  readonly #sweep: QueueSweep;
  readonly #due: DueScan;
  readonly #rescues = new Map<number, PacedScan>();

  constructor(parts: MaintenanceParts) {
    this.#parts = parts;
    this.#sweep = new QueueSweep(parts.database, parts.setAside);
    this.#due = new DueScan(parts.database);
  }

  async promoteDue(limit: number): Promise<PromotionReport> {
    const { queues, notifier } = this.#parts;
    const polledAtMs = performance.now();
    const { queues: waiting, keysDueInMs } = await this.#due.poll();
    if (keysDueInMs !== null && keysDueInMs <= 0) await this.#wakeKeys();
    // The outbox relay notifies of the keys that still wait after this.
    const keysInMs = keysDueInMs === null || keysDueInMs <= 0 ? Infinity : keysDueInMs;
    const next = waiting.find(({ dueAt }) => dueAt === null);
    let promoted = 0;
    /** When the next job is due, rather too early than too late: as if each statement had run when it was sent. */
    let nextAtMs = polledAtMs + Math.min(next?.dueInMs ?? Infinity, keysInMs);
    for (const { id, dueAt } of waiting) {
      if (dueAt === null) continue;
      const sentAtMs = performance.now();
      const rows = await this.#sweep.move<PromotedRow>(promoting, id, limit, [dueAt]);
      const moved = rows.reduce((sum, row) => sum + row.promoted, 0);
      for (const { next_due_in: dueInMs } of rows)
        nextAtMs = Math.min(nextAtMs, sentAtMs + (dueInMs ?? Infinity));
      if (moved === 0) continue;
      promoted += moved;
      const ready = rows.flatMap((row) => row.ready ?? []);
      if (ready.length > 0) notifier.notify(readyJobs(await queues.nameOf(id), ready));
      if (rows.some(({ blocked }) => blocked)) notifier.notify(outbox);
      if (moved === limit) return { promoted, nextDueMs: 0 };
    }
    if (promoted === 0) {
      const inMs = Math.min(next?.dueInMs ?? Infinity, keysInMs);
      return { promoted, nextDueMs: inMs === Infinity ? null : inMs };
    }
    return { promoted, nextDueMs: nextAtMs === Infinity ? null : Math.max(0, nextAtMs - performance.now()) };
  }

  /** Has the blocked jobs checked whose concurrency keys have tokens again. */
  async #wakeKeys(): Promise<void> {
    const { database, notifier } = this.#parts;
    for (const { queue_id: queueId } of await database.query<{ queue_id: number }>(selectWaking, []))
      await database.query(wakeKeys, [queueId]);
    notifier.notify(outbox);
  }

  resumeDue(limit: number): Promise<ResumptionReport> {
    return this.#parts.resumptions.resumeDue(limit);
  }

  resolveDependencies(limit: number): Promise<number> {
    return this.#parts.outbox.relay(limit);
  }

  /**
   * Rescues jobs if their leases have expired or their servers are not registered. Scans a queue less often if its scan
   * is slow, because leases rarely expire while servers are alive. If a server has just been declared dead, scans every
   * queue with running jobs.
   *
   * @param thorough whether to scan every queue with running jobs in any case
   */
  async rescue(thorough = false): Promise<RescueReport> {
    const { database, notifier, scans } = this.#parts;
    const [lost] = await database.query<LossRow>(findLosses);
    const dead =
      lost?.servers === true || lost?.transactions === true ? await this.#declareServersDead() : [];
    const report = { deadServers: dead, released: 0, failed: 0 };
    for (const id of lost?.busy ?? []) {
      const pace = this.#rescues.get(id) ?? new PacedScan();
      this.#rescues.set(id, pace);
      if (!thorough && dead.length === 0 && !pace.isDue) continue;
      let released = 0;
      let ended = 0;
      for (const row of await pace.run(() => this.#sweep.move<RescuedRow>(rescuing, id))) {
        released += row.released;
        report.failed += row.failed;
        ended += row.failed + row.cancelled;
      }
      if (ended > 0) notifier.notify(outbox); // other jobs may depend on those that ended
      report.released += released;
      if (released > 0) await scans.notifyReleased(id);
    }
    return report;
  }

  /**
   * Declares silent servers dead, ends their transactions, and resolves to the ids of the dead servers. A frozen
   * server's open transaction would keep its locks, for example on jobs that the server was completing. A server in the
   * middle of a claim can only be declared dead after its transaction has ended, so a second attempt follows. Also ends
   * transactions of servers that another process declared dead, because that process may have died first.
   */
  async #declareServersDead(): Promise<string[]> {
    const { database } = this.#parts;
    const silent = await database.query<SilentRow>(declareServersDead);
    await database.query(endTransactions);
    const claiming = silent.some(({ dead }) => !dead)
      ? await database.query<SilentRow>(declareServersDead)
      : [];
    return [...silent, ...claiming].filter(({ dead }) => dead).map(({ id }) => id);
  }

  async maintain(): Promise<boolean> {
    const isActive = await this.#parts.housekeeping.runOnce();
    this.#parts.historyIndexes.begin();
    return isActive || this.#parts.historyIndexes.isPending;
  }
}
