import { clamp } from '../job/bounds.js';
import type { Clock } from '../job/clock.js';
import type { ClaimedJob, Outcome } from '../job/job.js';
import type { Logger } from './logger.js';

/** Bounds of how long a job is put off at least, in milliseconds; at most twice as long. */
const delayBounds = { min: 2_000, max: 30_000 };

/** After this time without such a job, in milliseconds, the next one begins a new deploy. */
const forgottenAfterMs = 4 * delayBounds.max;

/** How much later this server claims from a queue with such jobs than one that can run them, in milliseconds. */
const yieldMs = 25;

interface Waiting {
  readonly sinceMs: number;
  readonly latestMs: number;
}

/**
 * Puts off jobs that were enqueued with a newer version of their definition than this server has. During a rolling deploy,
 * a server with the newer version claims them soon, because this one lets others claim first from their queue, and because
 * the delays are random, so that the jobs do not come back together. After a rollback, no server has that version, so a job's
 * delay grows with the time for which it has waited: such jobs then cost little until they can run again.
 */
export class NewerVersions {
  readonly #logger: Logger;
  readonly #clock: Clock;
  /** When the first and the latest job of a newer version were claimed, by job name. */
  readonly #waiting = new Map<string, Waiting>();
  /** When the latest was claimed, by queue. */
  readonly #latestMs = new Map<string, number>();

  /** @param clock the storage's, by which jobs were created */
  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger;
    this.#clock = clock;
  }

  /** Returns the outcome of the attempt. It does not count, and the job becomes ready again after the delay. */
  putOff({ name, claim, createdAt }: ClaimedJob, version: number, known: number): Outcome {
    const nowMs = this.#clock.now();
    this.#latestMs.set(claim.queue, nowMs);
    const earlier = this.#waiting.get(name);
    const isFirst = earlier === undefined || nowMs - earlier.latestMs > forgottenAfterMs;
    const sinceMs = isFirst ? nowMs : earlier.sinceMs;
    this.#waiting.set(name, { sinceMs, latestMs: nowMs });
    if (isFirst)
      this.#logger.warn(
        { name, claim, version, known },
        `jobs ${name} of version ${version} wait for a server with that version; this one has version ${known}`,
      );
    const waitedMs = Math.min(nowMs - sinceMs, nowMs - createdAt.getTime());
    const delayMs = clamp(waitedMs / 2, delayBounds);
    return { kind: 'snooze', delayMs: Math.round(delayMs * (1 + Math.random())) };
  }

  /** How long this server lets others claim first when jobs of this queue become ready, in milliseconds; usually 0. */
  yieldsMs(queue: string): number {
    const latestMs = this.#latestMs.get(queue);
    if (latestMs === undefined) return 0;
    if (this.#clock.now() - latestMs <= forgottenAfterMs) return yieldMs;
    this.#latestMs.delete(queue);
    return 0;
  }
}
