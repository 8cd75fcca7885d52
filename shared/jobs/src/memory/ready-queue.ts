import type { JobRecord } from './job-record.js';

/**
 * A queue of jobs in run order: by priority, then in order of arrival. Holds the ready jobs of a queue, or the jobs
 * that a concurrency key blocks.
 */
export class ReadyQueue {
  #jobs: JobRecord[] = [];
  #head = 0;

  get first(): JobRecord | undefined {
    return this.#jobs[this.#head];
  }

  /** When the longest-waiting job became ready, in milliseconds since 1970; `undefined` if the queue is empty. */
  get oldestReadyAt(): number | undefined {
    const jobs = this.#jobs.slice(this.#head);
    return jobs.length === 0 ? undefined : jobs.reduce((at, { readyAt }) => Math.min(at, readyAt), Infinity);
  }

  get length(): number {
    return this.#jobs.length - this.#head;
  }

  add(job: JobRecord): void {
    this.#jobs.splice(this.#placeOf(job), 0, job);
  }

  /** Returns all jobs in run order. */
  list(): JobRecord[] {
    return this.#jobs.slice(this.#head);
  }

  /** Removes a job. The job must be in the queue. */
  remove(job: JobRecord): void {
    this.#jobs.splice(this.#jobs.indexOf(job, this.#head), 1);
  }

  /** Returns the index at which to insert a job: after all jobs that run earlier. */
  #placeOf(job: JobRecord): number {
    let low = this.#head;
    let high = this.#jobs.length;
    const last = this.#jobs.at(-1);
    if (last === undefined || high === low || runsBefore(last, job)) low = high; // usual case: jobs arrive in run order
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#jobs[middle];
      if (there !== undefined && runsBefore(there, job)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /**
   * Returns whether `isWanted` accepts the name of any job. If `isWanted` is `null`, returns whether there is any job.
   */
  has(isWanted: ((name: string) => boolean) | null): boolean {
    if (isWanted === null) return this.length > 0;
    for (let at = this.#head; at < this.#jobs.length; at++)
      if (isWanted(this.#jobs[at]?.name ?? '')) return true;
    return false;
  }

  /**
   * Removes and returns up to `limit` jobs in run order. Skips jobs whose names `isWanted` rejects; `null` accepts all
   * jobs.
   */
  take(limit: number, isWanted: ((name: string) => boolean) | null): JobRecord[] {
    if (isWanted !== null) return this.#takeNamed(limit, isWanted);
    const taken = this.#jobs.slice(this.#head, this.#head + limit);
    this.#head += taken.length;
    this.#trim();
    return taken;
  }

  #takeNamed(limit: number, isWanted: (name: string) => boolean): JobRecord[] {
    const taken: JobRecord[] = [];
    const passed: JobRecord[] = [];
    let next = this.#head;
    for (; next < this.#jobs.length && taken.length < limit; next++) {
      const job = this.#jobs[next];
      if (job !== undefined) (isWanted(job.name) ? taken : passed).push(job);
    }
    if (taken.length === 0) return taken;
    // Moves the skipped jobs directly before the first unexamined job. This closes the gaps left by the taken jobs.
    this.#head = next - passed.length;
    for (const [index, job] of passed.entries()) this.#jobs[this.#head + index] = job;
    this.#trim();
    return taken;
  }

  #trim(): void {
    if (this.#head > 1_000 && this.#head * 2 > this.#jobs.length) {
      this.#jobs = this.#jobs.slice(this.#head);
      this.#head = 0;
    }
  }
}

/** Compares two jobs by run order: by priority, then in order of arrival. */
export function byRunOrder(left: JobRecord, right: JobRecord): number {
  return left.priority - right.priority || left.seq - right.seq;
}

function runsBefore(left: JobRecord, right: JobRecord): boolean {
  return byRunOrder(left, right) < 0;
}
