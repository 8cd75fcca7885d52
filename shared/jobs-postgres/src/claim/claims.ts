import {
  type Claim,
  type ClaimedJob,
  type ClaimRequest,
  type Claims,
  ServerLostError,
} from '@longshore/jobs/storage';
import { arrayOf, byQueue } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import type { CancellationRequests } from './cancellation-requests.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { Statement } from '../connection/statement.js';
import { boundedTime } from '../connection/stored-value.js';
import { claimArrays, type TouchedRow, without } from '../jobs/claim-arrays.js';
import type { LimitedQueues } from './limited-queues.js';
import type { ReadyScan, ReadyScans } from './ready-scans.js';
import type { Place, ScanStart } from './scan-cursor.js';
import { type ClaimedRow, claimReady, type LimitedClaimedRow } from './claims.sql.js';
import { releaseClaims, renewClaims, selectClaims } from './held-claims.sql.js';

/** Claims jobs for servers within the limits of the queues. Renews and releases the claims. */
export class PostgresClaims implements Claims {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #limits: LimitedQueues;
  readonly #scans: ReadyScans;
  readonly #requests: CancellationRequests;

  constructor(
    database: Database,
    queues: QueueIdCache,
    limits: LimitedQueues,
    scans: ReadyScans,
    requests: CancellationRequests,
  ) {
    this.#requests = requests;
    this.#database = database;
    this.#queues = queues;
    this.#limits = limits;
    this.#scans = scans;
  }

  async findReady(serverId: string, queues: readonly string[]): Promise<string[]> {
    const ids = new Map<number, string>();
    for (const queue of queues) ids.set(await this.#queues.idOf(queue), queue);
    const ready = await this.#scans.poll(serverId, [...ids.keys()]);
    return [...ready].flatMap((id) => ids.get(id) ?? []);
  }

  async claim(request: ClaimRequest): Promise<ClaimedJob[]> {
    const queueId = await this.#queues.idOf(request.queue);
    const scan = await this.#scans.of(request.serverId, queueId);
    let claimed = 0;
    try {
      const start = this.#scans.startOf(scan);
      let jobs = await this.#claimFrom(start, scan, request);
      const isRepeated =
        jobs.length === 0 &&
        start !== 'floor' &&
        !this.#limits.isFull(request.queue) &&
        this.#scans.floorIsCheap(scan);
      if (isRepeated) jobs = await this.#claimFrom('floor', scan, request);
      claimed = jobs.length;
      return jobs;
    } finally {
      this.#scans.claimed(scan, claimed, request.limit);
    }
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
    for (const [queue, released] of byQueue(claims)) {
      const queueId = await this.#queues.idOf(queue);
      await this.#requests.carryOutAmong(queueId, released);
      await this.#scans.notifyReleased(queueId);
    }
    return stale;
  }

  async #claimFrom(start: ScanStart, scan: ReadyScan, request: ClaimRequest): Promise<ClaimedJob[]> {
    const { cursor, queueId } = scan;
    const { queue, serverId, limit, leaseMs } = request;
    const { visible } = this.#scans; // read first, so that the statement's snapshot contains all jobs up to this number
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
    if (first === undefined || first.alive === false) throw new ServerLostError(serverId);
    const isLimited = first.limited ?? limited;
    if (isLimited !== limited) this.#limits.note(queue, isLimited);
    if (isLimited && !limited) return this.#claimFrom(start, scan, request); // retries within the limits
    // If nothing was claimed, the single row contains only the state of the server and the queue.
    const claimed = first.id === null ? [] : inQueueOrder(rows);
    const allowed = Math.min(limit, first.room ?? limit);
    const exhausted = claimed.length < allowed && first.paused !== true;
    cursor.advance(start, { claimed: lastPlaces(claimed), exhausted }, visible, ranges);
    return claimed.map((row) => toClaimedJob(row, queue, serverId));
  }

  /**
   * Runs a statement once per queue, with the queue's claims and the parameters from `rest`. Returns the claims that
   * are no longer valid.
   */
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
    createdAt: timeAt(row.created_ms),
    dueAt: timeAt(row.earlier_due_ms ?? row.later_ready_ms ?? row.created_ms),
    readyAt: timeAt(row.later_ready_ms ?? row.created_ms),
    meta: row.meta,
  };
}

/**
 * Converts milliseconds since 1970 to a time, rounded down to whole milliseconds. Adds half a microsecond first, so
 * that a floating-point error cannot lower the result by a millisecond.
 */
function timeAt(ms: number): Date {
  return boundedTime(Math.floor(ms + 0.0005));
}

/** Sorts the rows in queue order. They usually are in this order already, but SQL does not guarantee it. */
function inQueueOrder<Row extends ClaimedRow>(rows: readonly Row[]): readonly Row[] {
  const isInOrder = rows.every((row, index) => {
    const previous = rows[index - 1];
    return previous === undefined || byQueueOrder(previous, row) < 0;
  });
  return isInOrder ? rows : rows.toSorted(byQueueOrder);
}

function byQueueOrder(left: ClaimedRow, right: ClaimedRow): number {
  if (left.priority !== right.priority) return left.priority - right.priority;
  // Compares decimal strings. Without leading zeros, the longer number is greater.
  if (left.seq.length !== right.seq.length) return left.seq.length - right.seq.length;
  return left.seq < right.seq ? -1 : 1;
}

/** Returns the place of the last claimed job of each priority. The jobs must be in queue order. */
function lastPlaces(claimed: readonly ClaimedRow[]): Place[] {
  return claimed
    .filter(({ priority }, index) => claimed[index + 1]?.priority !== priority)
    .map(({ priority, seq }) => ({ priority, seq: BigInt(seq) }));
}
