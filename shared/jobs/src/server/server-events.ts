import type { Claim, ClaimedJob, JobError, Outcome } from '../job/job.js';
import type { Wait } from '../storage/timings.js';
import { nearestName } from '../job/options.js';
import { shown } from '../job/shown.js';
import type { RescueReport } from '../storage/maintenance.js';
import type { RunningJob } from './handler.js';
import type { Logger } from './logger.js';
import { toRunningJob } from './running-attempt.js';

/** An attempt that has ended. */
interface EndedAttempt {
  readonly job: RunningJob;
  /** For how long it ran, in milliseconds: from just before its handler was called until the handler ended. */
  readonly ranMs: number;
}

/** The payloads of a server's events, by event name. */
export interface JobServerEvents {
  /** Emitted just before the handler is called. */
  started: { readonly job: RunningJob } & Wait;
  done: EndedAttempt;
  /** The job failed and will not be retried. */
  failed: EndedAttempt & { readonly error: JobError };
  /** The attempt failed. The next one can start after `delayMs` milliseconds. */
  retrying: EndedAttempt & { readonly error: JobError; readonly delayMs: number };
  cancelled: EndedAttempt & { readonly error: JobError };
  snoozed: EndedAttempt & { readonly delayMs: number };
  /** The handler waits for a time, signals or other jobs: it goes on in another attempt, at the latest at `until`. */
  suspended: EndedAttempt & { readonly until: Date };
  /** The server lost the lease on the job. The job runs again, unless this was its last attempt or it is cancelled. */
  lost: { readonly claim: Claim };
  /** This server has taken back jobs of servers that died, or whose leases have expired. */
  rescued: RescueReport;
}

export type JobServerListener<Name extends keyof JobServerEvents> = (event: JobServerEvents[Name]) => void;

const eventOf = {
  done: 'done',
  failed: 'failed',
  cancelled: 'cancelled',
  retry: 'retrying',
  snooze: 'snoozed',
  suspend: 'suspended',
} as const satisfies Record<Outcome['kind'], keyof JobServerEvents>;

type Listeners = { [Name in keyof JobServerEvents]: Set<JobServerListener<Name>> };

/**
 * Calls the listeners of each event. Builds an event only if it has listeners. Logs the error if a listener throws or
 * returns a promise that rejects.
 */
export class ServerEvents {
  readonly #logger: Logger;
  readonly #listeners: Listeners = {
    started: new Set(),
    done: new Set(),
    failed: new Set(),
    retrying: new Set(),
    cancelled: new Set(),
    snoozed: new Set(),
    suspended: new Set(),
    lost: new Set(),
    rescued: new Set(),
  };

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /**
   * Adds a listener. Returns a function that removes it.
   *
   * @throws {TypeError} if there is no such event, or the listener is not a function
   */
  on<Name extends keyof JobServerEvents>(name: Name, listener: JobServerListener<Name>): () => void {
    if (typeof name !== 'string' || !Object.hasOwn(this.#listeners, name)) {
      const eventNames = Object.keys(this.#listeners);
      const nearest = nearestName(name, eventNames);
      const hint =
        nearest === undefined ? `The events are ${eventNames.join(', ')}` : `Did you mean "${nearest}"?`;
      throw new TypeError(`A job server has no event ${shown(name)}. ${hint}`);
    }
    if (typeof listener !== 'function')
      throw new TypeError(`The listener of "${name}" must be a function, not ${shown(listener)}`);
    this.#listeners[name].add(listener);
    return () => void this.#listeners[name].delete(listener);
  }

  started(job: ClaimedJob, wait: Wait): void {
    if (this.#listeners.started.size > 0) this.#emit('started', { job: toRunningJob(job), ...wait });
  }

  /** @param outcome `null` if the job succeeded and its outcome is already stored */
  ended(claimed: ClaimedJob, outcome: Outcome | null, ranMs: number): void {
    const kind = outcome?.kind ?? 'done';
    if (this.#listeners[eventOf[kind]].size === 0) return;
    const attempt = { job: toRunningJob(claimed), ranMs };
    switch (outcome?.kind) {
      case 'failed':
      case 'cancelled':
        return this.#emit(outcome.kind, { ...attempt, error: outcome.error });
      case 'retry':
        return this.#emit('retrying', { ...attempt, error: outcome.error, delayMs: outcome.delayMs });
      case 'snooze':
        return this.#emit('snoozed', { ...attempt, delayMs: outcome.delayMs });
      case 'suspend':
        return this.#emit('suspended', { ...attempt, until: outcome.until });
      default:
        return this.#emit('done', attempt);
    }
  }

  lost(claims: Iterable<Claim>): void {
    if (this.#listeners.lost.size > 0) for (const claim of claims) this.#emit('lost', { claim });
  }

  rescued(report: RescueReport): void {
    this.#emit('rescued', report);
  }

  #emit<Name extends keyof JobServerEvents>(name: Name, event: JobServerEvents[Name]): void {
    for (const listener of this.#listeners[name]) {
      const failed = (error: unknown): void =>
        this.#logger.error({ err: error, event: name }, 'a listener failed');
      try {
        // An async listener reports an error by rejecting its promise.
        const answer: unknown = listener(event);
        if (answer instanceof Promise) answer.catch(failed);
      } catch (error) {
        failed(error);
      }
    }
  }
}
