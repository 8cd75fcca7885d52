import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../connection/queue-id-cache.js';
import type { Notifier } from '../connection/notifier.js';
import { CommitHorizon } from './commit-horizon.js';
import { type Place, ScanCursor, type ScanStart } from './scan-cursor.js';
import { type ReadyPlaceRow, type ScanRow, scanState, sweepReady } from './ready-scans.sql.js';

/** Minimum interval between reads of the database's state alongside the claims. */
const refreshEveryMs = 25;

/** After a pause longer than this, gaps may already have been deleted, so the scans start over. Gaps are kept twice as long. */
const staleMs = 30_000;

/** A scan from the floor is repeated no sooner than this, and no sooner than 20 times its last duration. */
const floorEveryMs = 200;
const floorFactor = 20;

/** A sweep from the head is repeated no sooner than this, and no sooner than 50 times its last duration. */
const sweepEveryMs = 1_000;
const sweepFactor = 50;

/** A server that has not claimed for this long is considered gone. */
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
 * The scan positions of this process's servers. A claim starts just after the last job claimed, so it can miss jobs that
 * become visible later at a place before it. Three mechanisms find them: scans from the floor (for transactions that committed
 * out of order), gaps (for long transactions and released jobs), and sweeps, which find everything but cost the most.
 */
export class ReadyScans {
  readonly #database: Database;
  readonly #queues: QueueIdCache;
  readonly #notifier: Notifier;
  readonly #scans = new Map<string, ReadyScan>();
  #horizon = new CommitHorizon();
  #snapshot: string | null = null;
  #priorities: Readonly<Record<string, number[]>> = {};
  #refreshedAtMs = -Infinity;
  #refreshing: Promise<void> | undefined;

  constructor(database: Database, queues: QueueIdCache, notifier: Notifier) {
    this.#database = database;
    this.#queues = queues;
    this.#notifier = notifier;
  }

  /** The place up to which every job is visible. */
  get visible(): bigint {
    return this.#horizon.place;
  }

  /** Returns a server's scan of a queue. Only the first call waits for a read from the database. */
  async of(serverId: string, queueId: number): Promise<ReadyScan> {
    const nowMs = performance.now();
    const key = `${serverId} ${queueId}`;
    let scan = this.#scans.get(key);
    if (scan === undefined) {
      scan = { serverId, queueId, cursor: new ScanCursor([0]), usedAtMs: nowMs, floor: never, sweep: never };
      this.#scans.set(key, scan);
      await this.#refreshing;
      await this.refresh();
    } else if (nowMs - this.#refreshedAtMs >= refreshEveryMs) {
      // After the claim has been sent, which is what a job waits for. The claim runs into the same failures and reports them.
      setImmediate(() => void this.refresh().catch(() => undefined));
    }
    scan.usedAtMs = nowMs;
    if (isDue(scan.sweep, sweepEveryMs, sweepFactor, nowMs)) void this.#sweep(scan).catch(() => undefined);
    return scan;
  }

  /** Returns where the next scan starts: at the floor if enough time has passed since the last scan from there. */
  startOf({ floor }: ReadyScan): ScanStart {
    return isDue(floor, floorEveryMs, floorFactor, performance.now()) ? 'floor' : 'hint';
  }

  /** Returns whether to scan from the floor after a scan from the hint has found nothing. */
  floorIsCheap({ floor }: ReadyScan): boolean {
    return isDue(floor, 0, floorFactor, performance.now());
  }

  /** Notifies servers of jobs that are ready again. They return to their old places, which are recorded as gaps. */
  async returned(queueId: number): Promise<void> {
    await this.refresh();
    this.#notifier.notify(await this.#queues.nameOf(queueId));
  }

  /** Reads what has become visible. Concurrent calls share one read. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readState().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #readState(): Promise<void> {
    const nowMs = performance.now();
    const stale = nowMs - this.#refreshedAtMs > staleMs;
    for (const [key, { usedAtMs }] of this.#scans) if (nowMs - usedAtMs > idleMs) this.#scans.delete(key);
    const queueIds = [...new Set([...this.#scans.values()].map(({ queueId }) => queueId))];
    const rows = await this.#database.query<ScanRow>(scanState, [
      stale ? null : this.#snapshot,
      queueIds,
      this.#horizon.place.toString(),
    ]);
    const [state] = rows;
    if (state === undefined) throw new Error('The store has lost its sequence longshore.job_seq');
    this.#refreshedAtMs = nowMs;
    this.#snapshot = state.snapshot;
    this.#priorities = state.priorities ?? {};
    if (stale) this.#restart();
    const mark = state.mark === null ? null : BigInt(state.mark);
    this.#horizon.observe(state.snapshot, BigInt(state.seq), mark, nowMs);
    for (const { cursor, queueId } of this.#scans.values()) cursor.learn(this.#priorities[queueId] ?? []);
    this.#addGaps(rows);
  }

  #restart(): void {
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

  /** Looks from the head of the queue for ready jobs that the cursor has passed, and adds their places to it as gaps. */
  async #sweep(scan: ReadyScan): Promise<void> {
    const startedMs = performance.now();
    scan.sweep = { endedAtMs: Infinity, tookMs: 0 }; // prevents a second sweep
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

  /** Notifies the servers of this process that there are jobs at places that a cursor had passed. */
  #notifyLocally(queueId: number): void {
    this.#queues.nameOf(queueId).then(
      (queue) => this.#notifier.notifyLocally(queue),
      () => undefined, // only a hint
    );
  }
}

function isDue({ endedAtMs, tookMs }: Timing, everyMs: number, factor: number, nowMs: number): boolean {
  return nowMs - endedAtMs >= Math.max(everyMs, tookMs * factor);
}
