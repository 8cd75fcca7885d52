import { clamp } from '../job/bounds.js';
import type { ClaimedJob, Outcome } from '../job/job.js';
import type { Logger } from './logger.js';

/** Bounds of how long a job is put off, in milliseconds. */
const delayBounds = { min: 2_000, max: 60_000 };

/**
 * Puts off jobs that were enqueued with a newer version of their definition than this server has. During a rolling deploy,
 * a server with the newer version claims them soon. After a rollback, no server has it, so the delay grows with the time
 * since the first such job: the jobs then cost little until they can run again.
 */
export class NewerVersions {
  readonly #logger: Logger;
  /** When the first job of a newer version was claimed, by job name, in milliseconds. */
  readonly #since = new Map<string, number>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns the outcome of the attempt. It does not count, and the job becomes ready again after the delay. */
  putOff({ name, claim }: ClaimedJob, version: number, known: number): Outcome {
    const nowMs = performance.now();
    const since = this.#since.get(name);
    if (since === undefined) {
      this.#since.set(name, nowMs);
      this.#logger.warn(
        { name, claim, version, known },
        `jobs ${name} of version ${version} wait for a server with that version; this one has version ${known}`,
      );
    }
    return { kind: 'snooze', delayMs: clamp((nowMs - (since ?? nowMs)) / 2, delayBounds) };
  }
}
