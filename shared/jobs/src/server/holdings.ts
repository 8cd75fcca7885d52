import type { Claim, ClaimedJob, Completion } from '../job/job.js';
import type { Claims } from '../storage/claims.js';
import type { Logger } from './logger.js';
import type { RunningAttempt } from './running-attempt.js';
import { warnOf } from './storage-outage.js';

/** A claimed job that waits for a free slot. */
export interface WaitingJob {
  readonly job: ClaimedJob;
  readonly takenAt: number;
}

/**
 * What a server holds: its leases, from the insert or claim of a job until its outcome is stored, and the slots that are
 * taken. The parts of the server share it.
 */
export class Holdings {
  readonly #store: Claims;
  readonly #logger: Logger;
  /**
   * The id with which the server holds its leases; `null` while it is not registered. With a new id, all earlier leases
   * are lost.
   */
  serverId: string | null = null;
  /** The claims of slots that are reserved for jobs being inserted, by job id. Each lease starts when its job is inserted. */
  readonly reserved = new Map<string, Claim>();
  /** Claimed jobs that wait for a free slot. */
  waiting: WaitingJob[] = [];
  /** The attempts whose handlers are running, by job id. */
  readonly running = new Map<string, RunningAttempt>();
  /** Outcomes that are not stored yet. */
  readonly unwritten = new Set<Completion>();

  constructor(store: Claims, logger: Logger) {
    this.#store = store;
    this.#logger = logger;
  }

  /** Number of claimed jobs, whether running or waiting for a free slot. */
  get claimed(): number {
    return this.running.size + this.waiting.length;
  }

  /** Number of claimed jobs and reserved slots. */
  get taken(): number {
    return this.claimed + this.reserved.size;
  }

  /** Whether the server has no job: none claimed, no slot reserved, no outcome that is not stored yet. */
  get isEmpty(): boolean {
    return this.taken === 0 && this.unwritten.size === 0;
  }

  /** Returns the claims on all jobs that are running or waiting for a free slot. */
  claims(): Claim[] {
    return [...this.running.values(), ...this.waiting.map(({ job }) => job)].map(({ claim }) => claim);
  }

  /** Returns the claims whose leases must be renewed: those on claimed jobs, and of outcomes that are not stored yet. */
  leases(): Claim[] {
    return [...this.claims(), ...Array.from(this.unwritten, ({ claim }) => claim)];
  }

  /** Releases claims. If this fails, the jobs are rescued later. */
  async release(claims: readonly Claim[]): Promise<void> {
    if (claims.length === 0) return;
    try {
      await this.#store.release(claims);
    } catch (error) {
      warnOf(this.#logger, error, { jobs: claims.length }, 'releasing jobs failed');
    }
  }
}
