import { ServerLostError, readyIn } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import type { Notifier } from '../notifications/notifier.js';
import type { Statement } from '../connection/statement.js';
import { CommitHorizon, longMs, maxXidDelayMs, parseSnapshot } from './commit-horizon.js';
import { type Place, ScanCursor, type ScanStart } from './scan-cursor.js';
import {
  commitMark,
  pollReady,
  type PollRow,
  type ReadyPlaceRow,
  type ScanRow,
  scanState,
  sweepReady,
} from '../jobs/ready-scans.sql.js';

/**
 * How old the scan state may be before a claim that has found nothing, or as much as it could take, refreshes it in the
 * background, in milliseconds.
 */
const refreshEveryMs = 25;

/** How old it may be before any other claim refreshes it, in milliseconds: as old as when the next poll reads it. */
const refreshAtLeastEveryMs = 200;

/**
 * Age of the scan state, in milliseconds, after which all scans start over. Gaps are kept for twice as long after their
 * transactions have ended.
 */
const staleMs = 30_000;

/**
 * Minimum pause between scans that start from the floor, in milliseconds. After a scan from the hint that found nothing,
 * the next scan starts from the floor without this pause.
 */
const floorEveryMs = 200;
/** Minimum pause after every scan from the floor, as a multiple of the scan's duration. */
const floorFactor = 20;

/** Minimum pause, in milliseconds, between sweeps. */
const sweepEveryMs = 1_000;
/** Minimum pause after a sweep, as a multiple of the sweep's duration. */
const sweepFactor = 50;

/**
 * Minimum pause between sweeps of a queue, in milliseconds, once the server has not claimed from the queue for this long, or
 * {@link ReadyScan.isSettled}. Only claims can pass over jobs, so more frequent sweeps are unnecessary.
 */
const idleSweepEveryMs = 10_000;

/** How long a scan is kept after the server's last poll or claim, in milliseconds. */
const serverExpiryMs = 120_000;

/** The state of one server's scan of one queue. Times are from `performance.now()`. */
export interface ReadyScan {
  readonly serverId: string;
  readonly queueId: number;
  cursor: ScanCursor;
  /** When the server last polled or claimed. */
  usedAtMs: number;
  /** When the server's last claim began and ended; the end is `Infinity` during a claim. */
  claimedAtMs: number;
  claimEndedAtMs: number;
  /** Whether the scan state has been read since the last claim began. */
  isRead: boolean;
  /**
   * Whether, since the last claim, all transactions have ended whose jobs the claim can have passed over, and scans from the
   * floor find these jobs.
   */
  isSettled: boolean;
  floor: Timing;
  sweep: Timing;
}

interface Timing {
  readonly endedAtMs: number;
  readonly tookMs: number;
}

const never: Timing = { endedAtMs: -Infinity, tookMs: 0 };

/**
 * The scan positions of this process's servers. A claim starts just after the last claimed job, so it can miss jobs
 * that become visible later at earlier positions. Three mechanisms find such jobs:
 *
 * - scans from the floor, for transactions that committed out of order
 * - gaps, for long transactions and released jobs
 * - sweeps from the head of the queue, for everything else; they are the most expensive
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

  /** The commit horizon: the sequence number up to which no more jobs will become visible, except in gaps. */
  get visible(): bigint {
    return this.#horizon.place;
  }

  /** Returns a server's scan of a queue, for a claim. Waits for the database only if the scan is new. */
  async of(serverId: string, queueId: number): Promise<ReadyScan> {
    const nowMs = performance.now();
    let scan = this.#scans.get(keyOf(serverId, queueId));
    if (scan === undefined) {
      scan = this.#add(serverId, queueId);
      await this.#refreshing;
      await this.refresh();
    } else if (!scan.isRead) this.#refreshSoon(refreshAtLeastEveryMs);
    if (isDue(scan.sweep, sweepPauseOf(scan, nowMs), sweepFactor, nowMs)) this.#sweep(serverId, [scan]);
    // Nothing was passed over before this claim, so a sweep is due no sooner than if there had been one just now.
    else if (scan.isSettled) scan.sweep = { ...scan.sweep, endedAtMs: nowMs };
    scan.usedAtMs = nowMs;
    scan.claimedAtMs = nowMs;
    scan.claimEndedAtMs = Infinity;
    scan.isRead = false;
    scan.isSettled = false;
    return scan;
  }

  /**
   * Notes the end of a claim. If it has found nothing or as much as it could take, refreshes the scan state. Otherwise, the
   * next poll does so.
   */
  claimed(scan: ReadyScan, jobs: number, limit: number): void {
    scan.claimEndedAtMs = performance.now();
    if (jobs === 0 || jobs >= limit) this.#refreshSoon(refreshEveryMs);
  }

  /**
   * Returns the ids of the queues that might have jobs for a server, using one statement for all queues. Also starts
   * the sweeps that are due. Queues from which the server has not claimed recently are swept less often.
   *
   * @throws {ServerLostError} if the server is not registered
   */
  async poll(serverId: string, queueIds: readonly number[]): Promise<Set<number>> {
    const scans = queueIds.map((id) => this.#scans.get(keyOf(serverId, id)) ?? this.#add(serverId, id));
    await this.#refreshing?.catch(() => undefined);
    const { place: visible } = this.#horizon; // read first, so that the statement sees all jobs up to this place
    const nowMs = performance.now();
    const scanned = scans.map((scan) => ({ scan, ranges: scan.cursor.ranges('floor') }));
    const ranges = scanned.flatMap(({ ranges }) => ranges);
    const restarts = this.#isStale(nowMs);
    const read = this.#readState(pollReady, [
      serverId,
      arrayOf(scanned.flatMap(({ scan, ranges }) => ranges.map(() => scan.queueId))),
      arrayOf(ranges.map(({ priority }) => priority)),
      arrayOf(ranges.map(({ after }) => after.toString())),
      arrayOf(ranges.map(({ upTo }) => upTo.toString())),
    ]);
    this.#refreshing = read.then(() => undefined).finally(() => (this.#refreshing = undefined));
    this.#refreshing.catch(() => undefined); // prevents an unhandled rejection; `read` is awaited below
    const { rows, changed } = await read;
    const [state] = rows as readonly PollRow[];
    if (state?.alive !== true) throw new ServerLostError(serverId);
    if (restarts) return new Set(queueIds);
    const ready = new Set(state.ready);
    for (const { scan, ranges } of scanned) {
      scan.usedAtMs = nowMs;
      if (changed.has(scan.queueId)) ready.add(scan.queueId);
      if (ready.has(scan.queueId)) continue;
      scan.cursor.advance('floor', { claimed: [], exhausted: true }, visible, ranges);
    }
    const due = scans.filter((scan) => isDue(scan.sweep, sweepPauseOf(scan, nowMs), sweepFactor, nowMs));
    if (due.length > 0) this.#sweep(serverId, due);
    return ready;
  }

  /**
   * Returns where the next scan starts. This is the floor if enough time has passed since the last scan from there,
   * otherwise the hint.
   */
  startOf({ floor }: ReadyScan): ScanStart {
    return isDue(floor, floorEveryMs, floorFactor, performance.now()) ? 'floor' : 'hint';
  }

  /**
   * Returns whether a claim that found nothing from the hint can retry from the floor. After a slow scan from the
   * floor, retries must wait longer. This limits the time spent on such scans.
   */
  floorIsCheap({ floor }: ReadyScan): boolean {
    return isDue(floor, 0, floorFactor, performance.now());
  }

  /**
   * Notifies servers that jobs of a queue are ready again. These jobs have kept their old positions. Reads the new gaps
   * first, so that scans return to these positions.
   */
  async notifyReleased(queueId: number): Promise<void> {
    await this.refresh();
    this.#notifier.notify(readyIn(await this.#queues.nameOf(queueId)));
  }

  /** Reads the scan state (new gaps, priorities and the horizon). Concurrent calls share one read. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readState(scanState)
      .then(() => undefined)
      .finally(() => {
        this.#refreshing = undefined;
      });
    return this.#refreshing;
  }

  /** Refreshes the scan state in the background, unless it is newer than `maxAgeMs`. */
  #refreshSoon(maxAgeMs: number): void {
    if (performance.now() - this.#refreshedAtMs < maxAgeMs) return;
    // Deferred, so that a claim is sent first. Errors are ignored, because the claim reports them.
    setImmediate(() => void this.refresh().catch(() => undefined));
  }

  #add(serverId: string, queueId: number): ReadyScan {
    const nowMs = performance.now();
    const cursor = new ScanCursor([0]);
    cursor.learn(this.#priorities[queueId] ?? []);
    const scan: ReadyScan = {
      serverId,
      queueId,
      cursor,
      usedAtMs: nowMs,
      claimedAtMs: -Infinity,
      claimEndedAtMs: -Infinity,
      isRead: true,
      isSettled: false,
      floor: never,
      sweep: { endedAtMs: nowMs, tookMs: 0 }, // not due yet, because a new scan starts at the head
    };
    this.#scans.set(keyOf(serverId, queueId), scan);
    return scan;
  }

  #isStale(nowMs: number): boolean {
    return nowMs - this.#refreshedAtMs > staleMs;
  }

  /**
   * Reads the scan state, and updates the horizon and the cursors. If the last read was more than {@link staleMs} ago,
   * all scans start over. Resolves to the rows, and to the ids of the queues with new gaps or priorities.
   *
   * @param more additional parameters of the statement
   */
  async #readState(
    statement: Statement,
    more: readonly unknown[] = [],
  ): Promise<{ rows: readonly ScanRow[]; changed: ReadonlySet<number> }> {
    const nowMs = performance.now();
    const restarts = this.#isStale(nowMs);
    for (const [key, { usedAtMs }] of this.#scans)
      if (nowMs - usedAtMs > serverExpiryMs) this.#scans.delete(key);
    const queueIds = [...new Set([...this.#scans.values()].map(({ queueId }) => queueId))];
    const rows = await this.#database.query<ScanRow>(statement, [
      this.#snapshot,
      queueIds,
      this.#horizon.place.toString(),
      ...more,
    ]);
    const [state] = rows;
    if (state === undefined) throw new Error('The store has lost its sequence longshore.job_seq');
    this.#noteRead(state.snapshot, nowMs);
    this.#priorities = state.priorities ?? {};
    if (restarts) this.#restart();
    const mark = state.mark === null ? null : BigInt(state.mark);
    this.#horizon.observe(state.snapshot, BigInt(state.seq), mark, nowMs);
    const changed = new Set<number>();
    for (const { cursor, queueId } of this.#scans.values())
      if (cursor.learn(this.#priorities[queueId] ?? [])) changed.add(queueId);
    this.#addGaps(rows, changed);
    if (rows.some(({ queue_id: queueId }) => queueId === commitMark)) this.#notifier.callersCommit();
    for (const queueId of changed) this.#notifyLocally(queueId);
    return { rows, changed };
  }

  /** Notes that the scan state was read, and for which scans nothing is in progress any more. */
  #noteRead(snapshot: string, nowMs: number): void {
    // A transaction that the horizon has ignored was in progress for longer, so one of two reads would have listed it.
    const isSettled =
      isQuiet(snapshot) &&
      this.#snapshot !== null &&
      isQuiet(this.#snapshot) &&
      nowMs - this.#refreshedAtMs < longMs;
    for (const scan of this.#scans.values()) {
      if (nowMs < scan.claimedAtMs) continue;
      scan.isRead = true;
      scan.isSettled = isSettled && nowMs >= scan.claimEndedAtMs + maxXidDelayMs;
    }
    this.#refreshedAtMs = nowMs;
    this.#snapshot = snapshot;
  }

  #restart(): void {
    this.#horizon = new CommitHorizon();
    for (const scan of this.#scans.values()) scan.cursor = new ScanCursor([0]);
  }

  #addGaps(rows: readonly ScanRow[], changed: Set<number>): void {
    for (const { queue_id: queueId, priority, first_seq: first, last_seq: last } of rows) {
      if (queueId === null) continue;
      for (const scan of this.#scans.values()) {
        if (scan.queueId !== queueId) continue;
        scan.cursor.addGap({ priority, after: BigInt(first) - 1n, upTo: BigInt(last) });
        changed.add(queueId);
      }
    }
  }

  /**
   * Searches queues from the head for ready jobs that the cursors have passed. Adds the places of these jobs to the
   * cursors as gaps. Runs alongside claims. Ignores errors, because a later sweep finds the same jobs.
   */
  #sweep(serverId: string, scans: readonly ReadyScan[]): void {
    const startedMs = performance.now();
    for (const scan of scans) scan.sweep = { endedAtMs: Infinity, tookMs: 0 }; // not due while this sweep runs
    const queueIds = scans.map(({ queueId }) => queueId);
    this.#database
      .query<ReadyPlaceRow>(sweepReady, [queueIds, serverId])
      .then((rows) => {
        for (const scan of scans) if (addMissed(scan, rows)) this.#notifyLocally(scan.queueId);
      })
      .catch(() => undefined)
      .finally(() => {
        const endedAtMs = performance.now();
        const tookMs = (endedAtMs - startedMs) / scans.length;
        for (const scan of scans) scan.sweep = { endedAtMs, tookMs };
      });
  }

  /** Notifies the servers of this process that a queue has jobs at positions that scans might have passed. */
  #notifyLocally(queueId: number): void {
    this.#queues.nameOf(queueId).then(
      (queue) => void this.#notifier.notifyLocally(readyIn(queue)),
      () => undefined, // the next poll finds the jobs without a notification
    );
  }
}

/** Returns whether a snapshot lists no transaction in progress. */
const isQuiet = (snapshot: string): boolean => parseSnapshot(snapshot).inProgress.length === 0;

/** Returns the minimum pause before the next sweep, in milliseconds. */
function sweepPauseOf({ claimedAtMs, isSettled }: ReadyScan, nowMs: number): number {
  return nowMs - claimedAtMs < idleSweepEveryMs && !isSettled ? sweepEveryMs : idleSweepEveryMs;
}

const keyOf = (serverId: string, queueId: number): string => `${serverId} ${queueId}`;

/** Adds gaps to the cursor for the jobs in `rows` that the scan has passed. Returns whether there were such jobs. */
function addMissed({ cursor, queueId }: ReadyScan, rows: readonly ReadyPlaceRow[]): boolean {
  const missed = rows
    .filter((row) => row.queue_id === queueId)
    .map(({ priority, seq }): Place => ({ priority, seq: BigInt(seq) }))
    .filter((place) => cursor.hasPassed(place));
  for (const { priority, seq } of missed) cursor.addGap({ priority, after: seq - 1n, upTo: seq });
  return missed.length > 0;
}

function isDue({ endedAtMs, tookMs }: Timing, everyMs: number, factor: number, nowMs: number): boolean {
  return nowMs - endedAtMs >= Math.max(everyMs, tookMs * factor);
}
