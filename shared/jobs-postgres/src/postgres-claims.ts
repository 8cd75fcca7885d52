import {
  type Claim,
  type ClaimedJob,
  type ClaimRequest,
  type PromotionReport,
  type RescueReport,
  ServerLostError,
} from '@longshore/jobs';
import { arrayOf } from './array-literal.js';
import { byQueue } from './by-queue.js';
import { claimArrays, type TouchedRow, without } from './claim-arrays.js';
import type { Database, Statement } from './database.js';
import { DueScan } from './due-scan.js';
import type { LimitedQueues } from './limited-queues.js';
import { PacedScan } from './paced-scan.js';
import type { PostgresSetAside } from './postgres-set-aside.js';
import type { QueueDirectory } from './queue-directory.js';
import { type ReadyScan, ReadyScans } from './ready-scans.js';
import type { ScanStart } from './scan-cursor.js';
import { type ClaimedRow, claimReady, type LimitedClaimedRow } from './sql/claim-jobs.js';
import { releaseClaims, renewClaims, selectClaims } from './sql/hold-jobs.js';
import { type Moving, QueueSweep } from './queue-sweep.js';
import { type PromotedRow, promoteDue, promoteSome, selectDue } from './sql/promote-jobs.js';
import {
  buryServers,
  busyQueues,
  type RescuedRow,
  rescueJobs,
  rescueSome,
  selectLost,
} from './sql/rescue-jobs.js';
import { endTransactions, transactionName } from './sql/servers.js';
import type { WakeUps } from './wake-ups.js';

const promoting: Moving = { role: 'scheduler', all: promoteDue, some: promoteSome, select: selectDue };
const rescuing: Moving = { role: 'rescuer', all: rescueJobs, some: rescueSome, select: selectLost };

/** What servers do to jobs: each call one statement for each queue it touches. */
export class PostgresClaims {
  readonly #database: Database;
  readonly #queues: QueueDirectory;
  readonly #wakeUps: WakeUps;
  readonly #limits: LimitedQueues;
  readonly #scans: ReadyScans;
  readonly #sweep: QueueSweep;
  readonly #due: DueScan;
  readonly #rescues = new Map<number, PacedScan>();

  constructor(
    database: Database,
    queues: QueueDirectory,
    wakeUps: WakeUps,
    limits: LimitedQueues,
    setAside: PostgresSetAside,
  ) {
    this.#database = database;
    this.#due = new DueScan(database);
    this.#sweep = new QueueSweep(database, setAside);
    this.#queues = queues;
    this.#wakeUps = wakeUps;
    this.#limits = limits;
    this.#scans = new ReadyScans(database, (queueId) => {
      queues.nameOf(queueId).then(
        (queue) => wakeUps.tellHere(queue),
        () => undefined, // a hint only
      );
    });
  }

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    const queueId = await this.#queues.idOf(request.queue);
    const scan = await this.#scans.of(request.serverId, queueId);
    const start = this.#scans.startOf(scan);
    const jobs = await this.#claimFrom(start, scan, request);
    if (jobs.length > 0 || start === 'floor') return jobs;
    if (this.#limits.isFull(request.queue) || !this.#scans.floorIsCheap(scan)) return jobs;
    return this.#claimFrom('floor', scan, request);
  }

  async renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    return this.#eachQueue(claims, renewClaims, () => [leaseMs]);
  }

  async claimsOf(serverId: string, queue: string): Promise<Claim[]> {
    const queueId = await this.#queues.idOf(queue);
    const rows = await this.#database.query<TouchedRow>(selectClaims, [queueId, serverId]);
    return rows.map(({ id: jobId, attempt }) => ({ jobId, queue, serverId, attempt }));
  }

  async release(claims: readonly Claim[]): Promise<Claim[]> {
    const stale = await this.#eachQueue(claims, releaseClaims, () => []);
    for (const queue of new Set(claims.map((claim) => claim.queue)))
      await this.#cameBack(await this.#queues.idOf(queue));
    return stale;
  }

  async promoteDue(limit: number): Promise<PromotionReport> {
    const waiting = await this.#due.look();
    let promoted = 0;
    for (const { id, dueAt } of waiting) {
      if (dueAt === null) continue;
      const rows = await this.#sweep.move<PromotedRow>(promoting, id, limit, [dueAt]);
      const moved = rows.reduce((sum, row) => sum + row.promoted, 0);
      if (moved === 0) continue;
      promoted += moved;
      this.#wakeUps.announce(await this.#queues.nameOf(id));
      if (rows.some(({ held }) => held)) this.#wakeUps.announce(null);
      if (moved === limit) return { promoted, nextDueMs: 0 };
    }
    const next = waiting.find(({ dueAt }) => dueAt === null);
    return { promoted, nextDueMs: promoted > 0 ? 0 : (next?.dueInMs ?? null) };
  }

  /**
   * A queue is gone through whenever a server has been declared dead, and otherwise as often as that is cheap: leases that run out
   * while their server lives are rare.
   *
   * @param thorough goes through every queue in any case
   */
  async rescue(thorough = false): Promise<RescueReport> {
    const dead = await this.#database.query<{ id: string }>(buryServers);
    // A frozen server would keep the jobs locked that it has been completing.
    if (dead.length > 0) {
      await this.#database.query(endTransactions, [dead.map(({ id }) => transactionName(id))]);
    }
    const busy = await this.#database.query<{ id: number }>(busyQueues);
    const report = { deadServers: dead.map(({ id }) => id), released: 0, failed: 0 };
    for (const { id } of busy) {
      const pace = this.#rescues.get(id) ?? new PacedScan();
      this.#rescues.set(id, pace);
      if (!thorough && dead.length === 0 && !pace.isDue) continue;
      let released = 0;
      for (const row of await pace.run(() => this.#sweep.move<RescuedRow>(rescuing, id))) {
        released += row.released;
        report.failed += row.failed;
      }
      report.released += released;
      if (released > 0) await this.#cameBack(id);
    }
    return report;
  }

  /** Jobs stand where they stood before they were claimed: in gaps that the servers have passed. */
  async #cameBack(queueId: number): Promise<void> {
    await this.#scans.look();
    this.#wakeUps.announce(await this.#queues.nameOf(queueId));
  }

  async #claimFrom(start: ScanStart, scan: ReadyScan, request: ClaimRequest): Promise<ClaimedJob[]> {
    const { cursor, queueId } = scan;
    const { queue, serverId, limit, leaseMs } = request;
    const { visible } = this.#scans; // as it was before the statement took its snapshot
    const ranges = cursor.ranges(start);
    const startedMs = performance.now();
    const limited = this.#limits.has(queue);
    const values: [number, ...unknown[]] = [
      queueId,
      serverId,
      limit,
      leaseMs,
      arrayOf(ranges.map(({ priority }) => priority)),
      arrayOf(ranges.map(({ after }) => after.toString())),
      arrayOf(ranges.map(({ upTo }) => upTo.toString())),
    ];
    const rows: readonly (ClaimedRow & Partial<LimitedClaimedRow>)[] = limited
      ? await this.#limits.claim(request, values)
      : await this.#database.write<ClaimedRow>(claimReady, values);
    const endedAtMs = performance.now();
    if (start === 'floor') scan.floor = { endedAtMs, tookMs: endedAtMs - startedMs };
    const [first] = rows;
    if (first?.alive !== true) throw new ServerLostError(serverId);
    if (first.limited !== limited) this.#limits.note(queue, first.limited);
    if (first.limited && !limited) return this.#claimFrom(start, scan, request); // nothing was taken
    // The one row without a job only says that the server lives.
    const claimed = first.id === null ? [] : rows.toSorted(byPlaceInLine);
    const allowed = Math.min(limit, first.room ?? limit);
    const places = claimed.map(({ priority, seq }) => ({ priority, seq: BigInt(seq) }));
    cursor.advance(start, { claimed: places, exhausted: claimed.length < allowed && !first.paused }, visible);
    return claimed.map((row) => toClaimedJob(row, queue, serverId));
  }

  /** Runs a statement on claims, queue by queue; returns those that it found not to hold. */
  async #eachQueue(
    claims: readonly Claim[],
    statement: Statement,
    rest: (claims: readonly Claim[]) => unknown[],
  ): Promise<Claim[]> {
    const stale: Claim[] = [];
    for (const [queue, group] of byQueue(claims)) {
      const rows = await this.#database.write<TouchedRow>(statement, [
        await this.#queues.idOf(queue),
        ...claimArrays(group),
        ...rest(group),
      ]);
      if (rows.length === group.length) continue;
      for (const claim of without(group, rows)) stale.push(claim);
    }
    return stale;
  }
}

function toClaimedJob(row: ClaimedRow, queue: string, serverId: string): ClaimedJob {
  return {
    claim: { jobId: row.id, queue, serverId, attempt: row.attempt },
    name: row.name,
    priority: row.priority,
    args: row.args,
    maxAttempts: row.max_attempts,
    createdAt: row.created_at,
    meta: row.meta,
  };
}

/** Rows come in this order as it is, but nothing in SQL says that they must. */
function byPlaceInLine(left: ClaimedRow, right: ClaimedRow): number {
  return left.priority - right.priority || Number(BigInt(left.seq) - BigInt(right.seq));
}
