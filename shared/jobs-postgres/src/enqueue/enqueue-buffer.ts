import { StorageUnavailableError } from '@longshore/jobs';
import type { EnqueueResult, NewJob } from '@longshore/jobs/storage';
import { sqlStateOf } from '../connection/errors.js';

/** Maximum number of jobs written together. */
const maxBatch = 1_000;

/**
 * Maximum number of batches written at the same time. While they are being written, further jobs are collected for the
 * next batch.
 */
const maxWrites = 2;

interface Waiting {
  readonly job: NewJob;
  readonly resolve: (result: EnqueueResult) => void;
  readonly reject: (reason: unknown) => void;
}

/** Writes all of the jobs, or rejects and writes none. */
export type WriteJobs = (jobs: readonly NewJob[]) => Promise<EnqueueResult>;

/**
 * Combines the jobs of concurrent calls into batches. Jobs have to wait only while {@link maxWrites} earlier batches
 * are being written, so there is no delay if the database is idle.
 */
export class EnqueueBuffer {
  readonly #writeTogether: WriteJobs;
  readonly #writeAlone: WriteJobs;
  readonly #writing = new Set<Promise<void>>();
  /** Writes of single jobs after their batch failed. */
  readonly #alone = new Set<Promise<void>>();
  #waiting: Waiting[] = [];
  #planned = false;

  /**
   * @param writeAlone writes a single job after its batch failed; `writeTogether` by default. It can wait longer for
   *   locks than `writeTogether`
   */
  constructor(writeTogether: WriteJobs, writeAlone: WriteJobs = writeTogether) {
    this.#writeTogether = writeTogether;
    this.#writeAlone = writeAlone;
  }

  /** Adds a job to the next batch. Resolves when the job is durable. */
  add(job: NewJob): Promise<EnqueueResult> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#plan();
    });
  }

  /** Resolves when every job added so far has been written or rejected. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing.size > 0 || this.#alone.size > 0) {
      if (this.#writing.size === 0) this.#write();
      await Promise.all([...this.#writing, ...this.#alone]);
    }
  }

  /**
   * Schedules a write at the end of the current turn of the event loop, so that jobs added in the same turn share one
   * insert.
   */
  #plan(): void {
    if (this.#planned) return;
    this.#planned = true;
    setImmediate(() => {
      this.#planned = false;
      this.#write();
    });
  }

  #write(): void {
    while (this.#waiting.length > 0 && this.#writing.size < maxWrites) {
      const write = this.#writeBatch(this.#waiting.splice(0, maxBatch)).finally(() => {
        this.#writing.delete(write);
        this.#write();
      });
      this.#writing.add(write);
    }
  }

  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const result = await this.#writeTogether(batch.map(({ job }) => job));
      for (const { resolve } of batch) resolve(result);
    } catch (error) {
      const isFinal = batch.length === 1 || error instanceof StorageUnavailableError;
      // Rejects all jobs if writing them separately would not help. Otherwise, writes each job separately, so that a
      // job that is rejected or waits for a lock does not affect the others.
      if (isFinal && sqlStateOf(error) !== '55P03') for (const { reject } of batch) reject(error);
      else for (const waiting of batch) this.#startAlone(waiting);
    }
  }

  #startAlone({ job, resolve, reject }: Waiting): void {
    const write = this.#writeAlone([job])
      .then(resolve, reject)
      .finally(() => this.#alone.delete(write));
    this.#alone.add(write);
  }
}
