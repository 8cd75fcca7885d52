import { isFinished } from '../job/state.js';
import type { RetentionDays } from '../storage/maintenance.js';
import type { JobRecord } from './job-record.js';

const dayMs = 86_400_000;

/** Limits on how many finished jobs are kept, and for how long. */
export interface MemoryRetention {
  readonly maxFinished: number;
  readonly days: RetentionDays;
}

/** The finished jobs, in the order in which they finished. Also contains retried jobs until `old` removes them. */
export class MemoryHistory {
  readonly #records = new Map<string, JobRecord>();

  add(record: JobRecord): void {
    this.#records.delete(record.id); // moves a job that has finished again to the end
    this.#records.set(record.id, record);
  }

  forget(record: JobRecord): void {
    this.#records.delete(record.id);
  }

  /**
   * Returns the jobs to delete: jobs past their retention, and the oldest ones if there are more than `maxFinished`.
   * Also removes retried jobs from the history.
   */
  old({ maxFinished, days }: MemoryRetention, nowMs: number): JobRecord[] {
    for (const record of this.#records.values()) if (!isFinished(record.state)) this.forget(record);
    const excess = this.#records.size - maxFinished;
    return [...this.#records.values()].filter(
      ({ state, finishedAt }, index) =>
        index < excess ||
        (isFinished(state) && finishedAt !== null && finishedAt.getTime() + days[state] * dayMs <= nowMs),
    );
  }
}
