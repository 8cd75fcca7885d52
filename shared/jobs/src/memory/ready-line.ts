import type { JobRecord } from './job-record.js';

/** The ready jobs of one queue in the order in which they run: by priority, then by age. */
export class ReadyLine {
  #jobs: JobRecord[] = [];
  #head = 0;

  get first(): JobRecord | undefined {
    return this.#jobs[this.#head];
  }

  /** Since when the one waits that has waited longest; `undefined` if none does. */
  get oldestReadyAt(): number | undefined {
    const line = this.#jobs.slice(this.#head);
    return line.length === 0 ? undefined : line.reduce((at, { readyAt }) => Math.min(at, readyAt), Infinity);
  }

  get length(): number {
    return this.#jobs.length - this.#head;
  }

  add(job: JobRecord): void {
    this.#jobs.splice(this.#placeOf(job), 0, job);
  }

  /** Takes a job out of the line; it must be there. */
  remove(job: JobRecord): void {
    this.#jobs.splice(this.#jobs.indexOf(job, this.#head), 1);
  }

  /** The first place behind all that run before this job. */
  #placeOf(job: JobRecord): number {
    let low = this.#head;
    let high = this.#jobs.length;
    const last = this.#jobs.at(-1);
    if (last === undefined || high === low || runsBefore(last, job)) low = high; // nearly always
    while (low < high) {
      const middle = (low + high) >>> 1;
      const there = this.#jobs[middle];
      if (there !== undefined && runsBefore(there, job)) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Takes the first jobs out of the line, at most `limit`; with `names`, only jobs of these names. */
  take(limit: number, names: readonly string[] | null): JobRecord[] {
    if (names !== null) return this.#takeNamed(limit, new Set(names));
    const taken = this.#jobs.slice(this.#head, this.#head + limit);
    this.#head += taken.length;
    this.#trim();
    return taken;
  }

  #takeNamed(limit: number, names: ReadonlySet<string>): JobRecord[] {
    const taken: JobRecord[] = [];
    const passed: JobRecord[] = [];
    let next = this.#head;
    for (; next < this.#jobs.length && taken.length < limit; next++) {
      const job = this.#jobs[next];
      if (job !== undefined) (names.has(job.name) ? taken : passed).push(job);
    }
    if (taken.length === 0) return taken;
    // Jobs that were passed over close up behind the ones that left.
    this.#head = next - passed.length;
    for (const [place, job] of passed.entries()) this.#jobs[this.#head + place] = job;
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

/** Negative if the left job runs first: by priority, then by age. */
export function byPlaceInLine(left: JobRecord, right: JobRecord): number {
  return left.priority - right.priority || left.seq - right.seq;
}

function runsBefore(left: JobRecord, right: JobRecord): boolean {
  return byPlaceInLine(left, right) < 0;
}
