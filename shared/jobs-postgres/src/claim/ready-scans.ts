import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import type { Notifier } from '../connection/notifier.js';
import { CommitHorizon } from './commit-horizon.js';
import { type Place, ScanCursor, type ScanStart } from './scan-cursor.js';
import { type ReadyPlaceRow, type ScanRow, scanState, sweepReady } from './ready-scans.sql.js';

/** The state of the database is read at most this often, beside the claims. */
const lookEveryMs = 25;

/** After a longer silence gaps may have been deleted unseen; the scans begin anew. Gaps are kept for twice as long. */
const staleMs = 30_000;

/** A scan from the floor is repeated at the earliest after this, and after 20 times as long as the last one took. */
const floorEveryMs = 200;
const floorFactor = 20;

/** A sweep from the head is repeated at the earliest after this, and after 50 times as long as the last one took. */
const sweepEveryMs = 1_000;
const sweepFactor = 50;

/** A server that has not claimed for this long has left. */
const idleMs = 60_000;

/** One server's scan of one queue. */
export interface ReadyScan {
  readonly serverId: string;
  readonly queueId: number;
  cursor: ScanCursor;
  usedAtMs: number;
  floor: Timing;
  sweep: Timing;
}

interface Timing {
  readonly endedAtMs: number;
  readonly tookMs: number;
}

const never: Timing = { endedAtMs: -Infinity, tookMs: 0 };

/**
 * Where the servers of this process go on looking for ready jobs. A claim begins behind the last job claimed; three things
 * lead it back to jobs that it passed: scans from the floor (transactions that committed in another order than they began),
 * gaps (transactions that took long, jobs that were given back) and sweeps, which find everything and cost the most.
 */
export class ReadyScans {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;
  readonly #scans = new Map<string, ReadyScan>();
  #horizon = new CommitHorizon();
  #snapshot: string | null = null;
  #priorities: Readonly<Record<string, number[]>> = {};
  #lookedAtMs = -Infinity;
  #look: Promise<void> | undefined;

  constructor(database: Database, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
  }

  /** The place up to which every job is visible. */
  get visible(): bigint {
    return this.#horizon.place;
  }

  /** Where a server's scan of a queue stands. Only the first call reads from the database before it resolves. */
  async of(serverId: string, queueId: number): Promise<ReadyScan> {
    const nowMs = performance.now();
    const key = `${serverId} ${queueId}`;
    let scan = this.#scans.get(key);
    if (scan === undefined) {
      scan = { serverId, queueId, cursor: new ScanCursor([0]), usedAtMs: nowMs, floor: never, sweep: never };
      this.#scans.set(key, scan);
      await this.#look;
      await this.look();
    } else if (nowMs - this.#lookedAtMs >= lookEveryMs) {
      this.look().catch(() => undefined); // the claim meets the same database, and says what is wrong with it
    }
    scan.usedAtMs = nowMs;
    if (isDue(scan.sweep, sweepEveryMs, sweepFactor, nowMs)) void this.#sweep(scan).catch(() => undefined);
    return scan;
  }

  /** Whether the next scan is to begin at the floor. */
  startOf({ floor }: ReadyScan): ScanStart {
    return isDue(floor, floorEveryMs, floorFactor, performance.now()) ? 'floor' : 'hint';
  }

  /** Whether a scan from the floor is worth its price after one from the hint found nothing. */
  floorIsCheap({ floor }: ReadyScan): boolean {
    return isDue(floor, 0, floorFactor, performance.now());
  }

  /** Notifies servers of jobs that are ready again where they stood before they were claimed: in gaps behind the cursors. */
  async returned(queueId: number): Promise<void> {
    await this.look();
    this.#notifier.notify(await this.#queues.nameOf(queueId));
  }

  /** Reads what has become visible. Calls that come while one is under way share it. */
  look(): Promise<void> {
    this.#look ??= this.#readState().finally(() => {
      this.#look = undefined;
    });
    return this.#look;
  }

  async #readState(): Promise<void> {
    const nowMs = performance.now();
    const stale = nowMs - this.#lookedAtMs > staleMs;
    for (const [key, { usedAtMs }] of this.#scans) if (nowMs - usedAtMs > idleMs) this.#scans.delete(key);
    const queueIds = [...new Set([...this.#scans.values()].map(({ queueId }) => queueId))];
    const rows = await this.#database.query<ScanRow>(scanState, [
      stale ? null : this.#snapshot,
      queueIds,
      this.#horizon.place.toString(),
    ]);
    const [state] = rows;
    if (state === undefined) throw new Error('The store has lost its sequence longshore.job_seq');
    this.#lookedAtMs = nowMs;
    this.#snapshot = state.snapshot;
    this.#priorities = state.priorities ?? {};
    if (stale) this.#beginAnew();
    const mark = state.mark === null ? null : BigInt(state.mark);
    this.#horizon.observe(state.snapshot, BigInt(state.seq), mark, nowMs);
    for (const { cursor, queueId } of this.#scans.values()) cursor.learn(this.#priorities[queueId] ?? []);
    this.#addGaps(rows);
  }

  #beginAnew(): void {
    this.#horizon = new CommitHorizon();
    for (const scan of this.#scans.values()) scan.cursor = new ScanCursor([0]);
  }

  #addGaps(rows: readonly ScanRow[]): void {
    const found = new Set<number>();
    for (const { queue_id: queueId, priority, first_seq: first, last_seq: last } of rows) {
      if (queueId === null) continue;
      for (const scan of this.#scans.values()) {
        if (scan.queueId !== queueId) continue;
        scan.cursor.addGap({ priority, after: BigInt(first) - 1n, upTo: BigInt(last) });
        found.add(queueId);
      }
    }
    for (const queueId of found) this.#notifyLocally(queueId);
  }

  /** Looks from the head, without a lock, for ready jobs that the cursor has passed, and leads it back to them. */
  async #sweep(scan: ReadyScan): Promise<void> {
    const startedMs = performance.now();
    scan.sweep = { endedAtMs: Infinity, tookMs: 0 }; // no other begins meanwhile
    const { cursor } = scan;
    try {
      const rows = await this.#database.query<ReadyPlaceRow>(sweepReady, [scan.queueId, scan.serverId]);
      const missed = rows
        .map(({ priority, seq }): Place => ({ priority, seq: BigInt(seq) }))
        .filter((place) => cursor.hasPassed(place));
      for (const { priority, seq } of missed) cursor.addGap({ priority, after: seq - 1n, upTo: seq });
      if (missed.length > 0) this.#notifyLocally(scan.queueId);
    } finally {
      const endedAtMs = performance.now();
      scan.sweep = { endedAtMs, tookMs: endedAtMs - startedMs };
    }
  }

  /** A hint to the servers of this process that there is something behind a cursor. */
  #notifyLocally(queueId: number): void {
    this.#queues.nameOf(queueId).then(
      (queue) => this.#notifier.notifyLocally(queue),
      () => undefined, // a hint only
    );
  }
}

function isDue({ endedAtMs, tookMs }: Timing, everyMs: number, factor: number, nowMs: number): boolean {
  return nowMs - endedAtMs >= Math.max(everyMs, tookMs * factor);
}
