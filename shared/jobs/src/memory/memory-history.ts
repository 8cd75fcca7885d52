import { isFinished } from '../job/state.js';
import type { RetentionDays } from '../storage/retention.js';
import type { JobRecord } from './job-record.js';

const dayMs = 86_400_000;

/** How long finished jobs are kept. */
export interface MemoryRetention {
  readonly maxFinished: number;
  readonly days: RetentionDays;
}

/** Finished jobs in the order of their ends. */
export class MemoryHistory {
  readonly #records = new Map<string, JobRecord>();

  add(record: JobRecord): void {
    this.#records.delete(record.id); // it may have ended before, and stand further to the front
    this.#records.set(record.id, record);
  }

  forget(record: JobRecord): void {
    this.#records.delete(record.id);
  }

  /** Those that are to be kept no longer: too old for the state they ended in, or the oldest of too many. */
  old({ maxFinished, days }: MemoryRetention, nowMs: number): JobRecord[] {
    for (const record of this.#records.values()) if (!isFinished(record.state)) this.forget(record);
    const excess = this.#records.size - maxFinished;
    return [...this.#records.values()].filter(
      ({ state, finishedAt }, place) =>
        place < excess ||
        (isFinished(state) && finishedAt !== null && finishedAt.getTime() + days[state] * dayMs <= nowMs),
    );
  }
}
