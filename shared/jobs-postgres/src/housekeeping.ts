import { type RetentionDays, throughputKept } from '@longshore/jobs';
import type { Database } from './database.js';
import { HistoryDays } from './history-days.js';
import { KeySweeper } from './key-sweeper.js';
import { deleteOldAudit } from './sql/audit.js';
import { deleteOldBatches } from './sql/batches.js';
import { deleteOldBulks } from './sql/bulk-operations.js';
import {
  cancelReady,
  cancelWaiting,
  deleteIdleCancellation,
  selectIdleCancellations,
} from './sql/control-jobs.js';
import { noteRoom } from './sql/hold-back.js';
import { Retention } from './retention.js';
import { countRows, foldCounts } from './sql/counts.js';
import { deleteOldLinks } from './sql/job-links.js';
import { deleteOldThroughput } from './sql/statistics.js';

const hourMs = 3_600_000;

const roomNotedEveryMs = 60_000;

/** This many rows more than there are counters are worth a fold. */
const foldAt = 100;

/** What keeps reads cheap and retention possible. */
export class Housekeeping {
  readonly days: HistoryDays;
  readonly #database: Database;
  readonly #retention: Retention;
  readonly #keys: KeySweeper;
  #cleanedAt = -Infinity;
  #oldDaysDroppedAt = -Infinity;
  #roomNotedAt = performance.now();

  constructor(database: Database, retentionDays: RetentionDays) {
    this.#database = database;
    this.days = new HistoryDays(database);
    this.#keys = new KeySweeper(database);
    this.#retention = new Retention(database, retentionDays);
  }

  async runOnce(): Promise<void> {
    const [count] = await this.#database.query<{ rows: number; folded: number }>(countRows);
    if (count !== undefined && count.rows - count.folded >= foldAt) await this.#database.query(foldCounts);
    await this.#cancelIdle();
    await this.#keys.runOnce();
    await this.days.runOnce();
    if (performance.now() - this.#oldDaysDroppedAt >= hourMs) {
      await this.#retention.dropOldDays();
      this.#oldDaysDroppedAt = performance.now();
    }
    if (performance.now() - this.#roomNotedAt >= roomNotedEveryMs) await this.noteRoom();
    if (performance.now() - this.#cleanedAt < hourMs) return;
    await this.#database.query(deleteOldBatches);
    await this.#database.query(deleteOldBulks);
    await this.#database.query(deleteOldAudit);
    await this.#database.query(deleteOldThroughput, [throughputKept.all.forMs, throughputKept.queue.forMs]);
    await this.#database.query(deleteOldLinks);
    this.#cleanedAt = performance.now();
  }

  async noteRoom(): Promise<void> {
    this.#roomNotedAt = performance.now();
    await this.#database.query(noteRoom);
  }

  /** Whoever cancelled a running job was told that it will not run again, however its attempt ended. */
  async #cancelIdle(): Promise<void> {
    const requests = await this.#database.query<{ queue_id: number; job_id: string }>(
      selectIdleCancellations,
    );
    for (const { queue_id: queueId, job_id: id } of requests) {
      for (const step of [cancelWaiting, cancelReady, deleteIdleCancellation])
        await this.#database.query(step, [queueId, id]);
    }
  }
}
