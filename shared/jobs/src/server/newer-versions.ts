import { clamp } from '../job/bounds.js';
import type { ClaimedJob, Outcome } from '../job/job.js';
import type { Logger } from './logger.js';

/** Bounds of how long a job is put off at least, in milliseconds; at most twice as long. */
const delayBounds = { min: 2_000, max: 30_000 };

/** After this time without such a job, in milliseconds, the next one begins a new deploy. */
const forgottenAfterMs = 4 * delayBounds.max;

interface Waiting {
  readonly sinceMs: number;
  readonly latestMs: number;
}

/**
 * Puts off jobs that were enqueued with a newer version of their definition than this server has. During a rolling deploy,
 * a server with the newer version claims them soon: the delays are random, so that the jobs do not come back together, to
 * whichever server is first. After a rollback, no server has it, so the delay grows with the time
 * since the first such job: the jobs then cost little until they can run again.
 */
export class NewerVersions {
  readonly #logger: Logger;
  /** When the first and the latest job of a newer version were claimed, by job name. */
  readonly #waiting = new Map<string, Waiting>();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Returns the outcome of the attempt. It does not count, and the job becomes ready again after the delay. */
  putOff({ name, claim }: ClaimedJob, version: number, known: number): Outcome {
    const nowMs = performance.now();
    const earlier = this.#waiting.get(name);
    const isFirst = earlier === undefined || nowMs - earlier.latestMs > forgottenAfterMs;
    const sinceMs = isFirst ? nowMs : earlier.sinceMs;
    this.#waiting.set(name, { sinceMs, latestMs: nowMs });
    if (isFirst)
      this.#logger.warn(
        { name, claim, version, known },
        `jobs ${name} of version ${version} wait for a server with that version; this one has version ${known}`,
      );
    const delayMs = clamp((nowMs - sinceMs) / 2, delayBounds);
    return { kind: 'snooze', delayMs: Math.round(delayMs * (1 + Math.random())) };
  }
}
