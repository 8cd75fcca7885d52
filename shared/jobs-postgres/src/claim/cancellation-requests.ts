import { type Claim, outbox, type Notification } from '@longshore/jobs/storage';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import {
  deleteMootCancellation,
  findNewQueue,
  requestCancellation,
  selectCancellations,
  selectIdleCancellations,
} from '../jobs/job-control.sql.js';
import { moveJobs } from '../jobs/job-moves.sql.js';

/** Maximum number of requests that are carried out at a time. */
const maxIdle = 1_000;

/** A job that is to be cancelled but is not running. */
export interface IdleRequest {
  readonly queueId: number;
  readonly jobId: string;
}

/**
 * The operators' requests to cancel running jobs. A request wins over every way back to the queue: an attempt that would
 * be retried, snoozed or released ends as cancelled instead, and a job with a request is not promoted.
 */
export class CancellationRequests {
  readonly #database: Database;
  readonly #notify: (notification: Notification) => void;

  constructor(database: Database, notify: (notification: Notification) => void) {
    this.#database = database;
    this.#notify = notify;
  }

  /** Returns the claims whose jobs are to be cancelled. */
  async among(claims: readonly Claim[]): Promise<Claim[]> {
    const ids = claims.map(({ jobId }) => jobId);
    const rows = await this.#database.query<{ id: string }>(selectCancellations, [arrayOf(ids)]);
    if (rows.length === 0) return [];
    const requested = new Set(rows.map(({ id }) => id));
    return claims.filter(({ jobId }) => requested.has(jobId));
  }

  /** Returns up to {@link maxIdle} requests whose jobs are not running: the request came while the attempt ended. */
  async idle(): Promise<IdleRequest[]> {
    const rows = await this.#database.query<{ queue_id: number; job_id: string }>(selectIdleCancellations, [
      maxIdle,
    ]);
    return rows.map(({ queue_id: queueId, job_id: jobId }) => ({ queueId, jobId }));
  }

  /**
   * Cancels a job that is not running, if it has not ended, and forgets the request. A request follows its job to another
   * queue, even if it was made while the job moved there.
   */
  async carryOut(request: IdleRequest): Promise<void> {
    await this.#carryOut(request);
    this.#notify(outbox); // other jobs may depend on the cancelled one
  }

  async #carryOut({ queueId, jobId }: IdleRequest): Promise<void> {
    const { scheduled, blocked, ready } = moveJobs.cancel;
    let isHere = false;
    for (const step of [scheduled, blocked, ready])
      if (step !== undefined && !isHere)
        isHere = (await this.#database.query(step, [queueId, arrayOf([jobId])])).length > 0;
    const [moved] = isHere ? [] : await this.#database.query<{ queue_id: number }>(findNewQueue, [jobId]);
    if (moved !== undefined && moved.queue_id !== queueId) {
      await this.#database.query(requestCancellation, [moved.queue_id, jobId]);
      await this.#carryOut({ queueId: moved.queue_id, jobId });
    }
    await this.#database.query(deleteMootCancellation, [queueId, jobId]);
  }

  /**
   * Cancels those jobs that were requested to be cancelled while their attempts went back to the queue: too late for
   * {@link among} to see it. Leaves a job that cannot be cancelled because of its data to the cleaner, which sets it
   * aside.
   */
  async carryOutAmong(queueId: number, claims: readonly Claim[]): Promise<void> {
    for (const { jobId } of await this.among(claims)) {
      try {
        await this.carryOut({ queueId, jobId });
      } catch (error) {
        if (!isOfData(error)) throw error;
      }
    }
  }
}
