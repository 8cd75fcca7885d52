import type { NewJob } from '../job/job.js';
import type { JobKey } from '../job/job-key.js';
import type { JobState } from '../job/state.js';
import { type KeyHolder, keyName, type KeyResolution } from '../storage/key-resolution.js';

interface KeyRecord {
  readonly key: JobKey;
  readonly jobId: string;
  readonly until: number;
}

/** Returns a job's state; `undefined` if the job no longer exists. */
type StateOf = (jobId: string) => JobState | undefined;

/** Tracks which job holds each unique key or idempotency key. */
export class MemoryKeys {
  readonly #records = new Map<string, KeyRecord>();
  readonly #stateOf: StateOf;

  constructor(stateOf: StateOf) {
    this.#stateOf = stateOf;
  }

  holderOf(queue: string, key: JobKey, now: number): KeyHolder | null {
    const record = this.#records.get(keyName(queue, key));
    if (record === undefined || record.until <= now) return null;
    const { jobId, key: storedKey } = record;
    const state = this.#stateOf(jobId) ?? null;
    if (storedKey.states !== null && (state === null || !storedKey.states.includes(state))) return null;
    return { jobId, state, fingerprint: storedKey.fingerprint };
  }

  /** Returns the id of a job that holds one of the keys of a new job; `null` if they are free. */
  holderOfAny({ queue, keys }: NewJob, now: number): string | null {
    const holders = (keys ?? []).map((key) => this.holderOf(queue, key, now));
    return holders.find((holder) => holder !== null)?.jobId ?? null;
  }

  claim(claims: KeyResolution['claims'], now: number): void {
    for (const { queue, key, jobId } of claims)
      this.#records.set(keyName(queue, key), { key, jobId, until: now + (key.periodMs ?? Infinity) });
  }

  /**
   * Deletes the records of:
   *
   * - expired keys
   * - keys with a list of `states`, if the job no longer exists
   * - keys with a list of `states` without `done`, if the job is done
   *
   * Keeps the key of a failed or cancelled job, because the job can be retried.
   */
  trim(now: number): void {
    for (const [name, { key, jobId, until }] of this.#records) {
      const state = this.#stateOf(jobId);
      const idle = state === undefined || (state === 'done' && !key.states?.includes(state));
      if (until <= now || (key.states !== null && idle)) this.#records.delete(name);
    }
  }
}
