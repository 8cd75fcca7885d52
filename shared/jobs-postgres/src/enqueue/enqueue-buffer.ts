import { type NewJob, type Receipt, StorageUnavailableError } from '@longshore/jobs';
import { isLockTimeout } from '../connection/database.js';

/** More jobs than this go in several inserts. */
const maxBatch = 1_000;

/** While these are under way, the next batch gathers. */
const maxWrites = 2;

interface Waiting {
  readonly job: NewJob;
  readonly resolve: (receipt: Receipt) => void;
  readonly reject: (reason: unknown) => void;
}

/** Writes jobs: all of them or none. */
export type WriteJobs = (jobs: readonly NewJob[]) => Promise<Receipt>;

/**
 * Makes one write of the jobs that are enqueued at the same time. Nothing waits while the database is idle; a batch gathers
 * only while earlier ones are being written.
 */
export class EnqueueBuffer {
  readonly #writeTogether: WriteJobs;
  readonly #writeAlone: WriteJobs;
  readonly #writing = new Set<Promise<void>>();
  /** Those that could not be written with others, or only after a long wait. */
  readonly #alone = new Set<Promise<void>>();
  #waiting: Waiting[] = [];
  #planned = false;

  /** @param writeAlone for a job of a batch that was refused; may wait for a lock where `writeTogether` gives up */
  constructor(writeTogether: WriteJobs, writeAlone: WriteJobs = writeTogether) {
    this.#writeTogether = writeTogether;
    this.#writeAlone = writeAlone;
  }

  /** Resolves when the job is durable. */
  add(job: NewJob): Promise<Receipt> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#plan();
    });
  }

  /** Resolves when everything that was added has been written or refused. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing.size > 0 || this.#alone.size > 0) {
      if (this.#writing.size === 0) this.#write();
      await Promise.all([...this.#writing, ...this.#alone]);
    }
  }

  /** Callers of one turn of the event loop share an insert. */
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
      const receipt = await this.#writeTogether(batch.map(({ job }) => job));
      for (const { resolve } of batch) resolve(receipt);
    } catch (error) {
      const isFinal = batch.length === 1 || error instanceof StorageUnavailableError;
      // One job that Postgres refuses, or that has to wait, must not take the others with it; nor those that come after.
      if (isFinal && !isLockTimeout(error)) for (const { reject } of batch) reject(error);
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
