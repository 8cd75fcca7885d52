import {
  type Claim,
  type ClaimedJob,
  type ClaimRequest,
  type PromotionReport,
  type RescueReport,
  ServerLostError,
} from '@longshore/jobs';
import { byQueue } from './by-queue.js';
import { claimArrays, type TouchedRow, without } from './claim-arrays.js';
import type { Database, Statement } from './database.js';
import type { LimitedQueues } from './limited-queues.js';
import { LineCursor } from './line-cursor.js';
import type { QueueDirectory } from './queue-directory.js';
import { type ClaimedRow, claims as claimStatements, type Look } from './sql/claim-jobs.js';
import { releaseClaims, renewClaims, selectClaims } from './sql/hold-jobs.js';
import { nextDue, promoteDue } from './sql/promote-jobs.js';
import { buryServers, busyQueues, rescueJobs } from './sql/rescue-jobs.js';
import { endTransactions, transactionName } from './sql/servers.js';
import type { WakeUps } from './wake-ups.js';

/** What servers do to jobs: each call one statement for each queue it touches. */
export class PostgresClaims {
  readonly #database: Database;
  readonly #queues: QueueDirectory;
  readonly #wakeUps: WakeUps;
  readonly #limits: LimitedQueues;
  /** Of each queue, by server: what one server has passed over, another may have a handler for. */
  readonly #cursors = new Map<number, Map<string, LineCursor>>();

  constructor(database: Database, queues: QueueDirectory, wakeUps: WakeUps, limits: LimitedQueues) {
    this.#database = database;
    this.#queues = queues;
    this.#wakeUps = wakeUps;
    this.#limits = limits;
  }

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    const queueId = await this.#queues.idOf(request.queue);
    const cursor = this.#cursorOf(queueId, request.serverId);
    const values: [number, ...unknown[]] = [queueId, request.serverId, request.limit, request.leaseMs];
    if (!cursor.headIsDue(performance.now())) {
      const { priorities, seqs } = cursor.positions();
      const jobs = await this.#claim('behindCursor', [...values, priorities, seqs], request, cursor);
      if (jobs === null) return this.claim(request);
      if (jobs.length > 0 || this.#limits.isFull(request.queue)) return jobs;
      if (!cursor.headIsCheap(performance.now())) return jobs;
    }
    const startedMs = performance.now();
    const jobs = await this.#claim('fromHead', values, request, cursor);
    cursor.lookedFromHead(startedMs, performance.now());
    return jobs ?? this.claim(request);
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
    const waiting = await this.#database.query<{ id: number; due_in: number }>(nextDue);
    let promoted = 0;
    for (const { id } of waiting.filter(({ due_in: dueIn }) => dueIn <= 0)) {
      const [row] = await this.#database.write<{ promoted: number; held: boolean }>(promoteDue, [id, limit]);
      if (row === undefined || row.promoted === 0) continue;
      promoted += row.promoted;
      this.#wakeUps.announce(await this.#queues.nameOf(id));
      if (row.held) this.#wakeUps.announce(null);
      if (row.promoted === limit) return { promoted, nextDueMs: 0 };
    }
    const next = waiting.find(({ due_in: dueIn }) => dueIn > 0);
    return { promoted, nextDueMs: promoted > 0 ? 0 : (next?.due_in ?? null) };
  }

  async rescue(): Promise<RescueReport> {
    const dead = await this.#database.query<{ id: string }>(buryServers);
    // A frozen server would keep the jobs locked that it has been completing.
    if (dead.length > 0) {
      await this.#database.query(endTransactions, [dead.map(({ id }) => transactionName(id))]);
    }
    const busy = await this.#database.query<{ id: number }>(busyQueues);
    const report = { deadServers: dead.map(({ id }) => id), released: 0, failed: 0 };
    for (const { id } of busy) {
      const [row] = await this.#database.write<{ released: number; failed: number }>(rescueJobs, [id]);
      report.released += row?.released ?? 0;
      report.failed += row?.failed ?? 0;
      if (row !== undefined && row.released > 0) await this.#cameBack(id);
    }
    return report;
  }

  #cursorOf(queueId: number, serverId: string): LineCursor {
    let cursors = this.#cursors.get(queueId);
    if (cursors === undefined) this.#cursors.set(queueId, (cursors = new Map<string, LineCursor>()));
    let cursor = cursors.get(serverId);
    if (cursor === undefined) cursors.set(serverId, (cursor = new LineCursor()));
    return cursor;
  }

  /** Jobs stand in the line where they stood before they were claimed: behind the cursor. */
  async #cameBack(queueId: number): Promise<void> {
    this.#cursors.delete(queueId);
    this.#wakeUps.announce(await this.#queues.nameOf(queueId));
  }

  /** Resolves to `null` if the queue turns out to have limits, unknown until now. */
  async #claim(
    look: Look,
    values: [queueId: number, ...rest: unknown[]],
    request: ClaimRequest,
    cursor: LineCursor,
  ): Promise<ClaimedJob[] | null> {
    const { queue, serverId } = request;
    const limited = this.#limits.has(queue);
    const rows = limited
      ? await this.#limits.claim(request, look, values)
      : await this.#database.write<ClaimedRow>(claimStatements[look], values);
    const [first] = rows;
    if (first?.alive !== true) throw new ServerLostError(serverId);
    if (first.limited !== limited) this.#limits.note(queue, first.limited);
    if (first.limited && !limited) return null;
    if (first.id === null) return []; // the one row that only says that the server lives
    const jobs: ClaimedJob[] = [];
    for (const row of rows.toSorted(byPlaceInLine)) {
      cursor.advance(row.priority, BigInt(row.seq));
      jobs.push({
        claim: { jobId: row.id, queue, serverId, attempt: row.attempt },
        name: row.name,
        priority: row.priority,
        args: row.args,
        maxAttempts: row.max_attempts,
        createdAt: row.created_at,
        meta: row.meta,
      });
    }
    return jobs;
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
      stale.push(...without(group, rows));
    }
    return stale;
  }
}

/** Rows come in this order as it is, but nothing in SQL says that they must. */
function byPlaceInLine(left: ClaimedRow, right: ClaimedRow): number {
  return left.priority - right.priority || Number(BigInt(left.seq) - BigInt(right.seq));
}
