import type { Job } from '../job/job.js';
import type { JobReader } from '../storage/job-reader.js';

/**
 * Maximum number of concurrent lookups. Limited so that thousands of waits ending at once do not use up the storage's
 * connections.
 */
const maxConcurrent = 4;

interface Lookup {
  readonly promise: Promise<Job | null>;
  readonly start: () => Promise<void>;
}

/** Looks up jobs, a few at a time. Calls for the same job share a lookup that has not started yet. */
export class JobLookups {
  readonly #jobs: Pick<JobReader, 'find'>;
  /** Lookups that have not started, by job id. The oldest starts first. */
  readonly #waiting = new Map<string, Lookup>();
  #running = 0;

  constructor(jobs: Pick<JobReader, 'find'>) {
    this.#jobs = jobs;
  }

  /** Returns the job as it is at the time of this call or slightly later; `null` if the job does not exist. */
  async find(id: string): Promise<Job | null> {
    let lookup = this.#waiting.get(id);
    if (lookup === undefined) {
      lookup = this.#lookup(id);
      this.#waiting.set(id, lookup);
      queueMicrotask(() => this.#startNext());
    }
    return lookup.promise;
  }

  #lookup(id: string): Lookup {
    let start = async (): Promise<void> => undefined;
    const promise = new Promise<Job | null>((resolve, reject) => {
      start = () => this.#jobs.find(id).then(resolve, reject);
    });
    return { promise, start: () => start() };
  }

  #startNext(): void {
    for (const [id, { start }] of this.#waiting) {
      if (this.#running >= maxConcurrent) return;
      this.#waiting.delete(id);
      this.#running++;
      void this.#run(start);
    }
  }

  async #run(start: () => Promise<void>): Promise<void> {
    await start();
    this.#running--;
    this.#startNext();
  }
}
