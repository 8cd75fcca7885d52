import { type NewJob, StorageUnavailableError } from '@longshore/jobs';

/** More jobs than this go in several inserts. */
const maxBatch = 1_000;

/** While these are under way, the next batch gathers. */
const maxWrites = 2;

interface Waiting {
  readonly job: NewJob;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * Makes one insert of the jobs that are enqueued at the same time. Nothing waits while the database is idle; a batch gathers
 * only while earlier ones are being written.
 */
export class EnqueueBuffer {
  readonly #insert: (jobs: readonly NewJob[]) => Promise<void>;
  readonly #writing = new Set<Promise<void>>();
  #waiting: Waiting[] = [];
  #planned = false;

  constructor(insert: (jobs: readonly NewJob[]) => Promise<void>) {
    this.#insert = insert;
  }

  /** Resolves when the job is durable. */
  add(job: NewJob): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ job, resolve, reject });
      this.#plan();
    });
  }

  /** Resolves when everything that was added has been written or refused. */
  async drained(): Promise<void> {
    while (this.#waiting.length > 0 || this.#writing.size > 0) {
      if (this.#writing.size === 0) this.#write();
      await Promise.all(this.#writing);
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
      await this.#insert(batch.map(({ job }) => job));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      if (batch.length === 1 || error instanceof StorageUnavailableError) {
        for (const { reject } of batch) reject(error);
      } else {
        // One job that Postgres refuses must not take the others with it.
        for (const waiting of batch) await this.#writeBatch([waiting]);
      }
    }
  }
}
