import type { Job } from '../job/job.js';
import type { JobReader } from '../storage/job-reader.js';

/** At once: when thousands stop waiting in one moment, the storage's connections are not all theirs. */
const mostAtOnce = 4;

interface Lookup {
  readonly promise: Promise<Job | null>;
  readonly start: () => Promise<void>;
}

/** Looks jobs up, a few at a time. Those who ask for one job before its turn has come get one answer. */
export class JobLookups {
  readonly #jobs: Pick<JobReader, 'find'>;
  /** In the order of asking. */
  readonly #waiting = new Map<string, Lookup>();
  #running = 0;

  constructor(jobs: Pick<JobReader, 'find'>) {
    this.#jobs = jobs;
  }

  /** The job as it is now or a moment later; `null` if there is none. */
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
      if (this.#running >= mostAtOnce) return;
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
