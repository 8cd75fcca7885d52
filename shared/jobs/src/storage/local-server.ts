import type { ClaimedJob } from '../job/job.js';

/** A job server in the same process as the enqueuer. The storage can start new jobs on it without a separate claim. */
export interface LocalServer {
  /**
   * Reserves slots for new jobs of one name. Returns `null` if the server should not start them directly, for example
   * because it is busy or does not handle this name.
   *
   * @param jobIds the jobs to reserve slots for; all of them start, or none
   */
  reserve(queue: string, name: string, jobIds: readonly string[]): SlotReservation | null;
}

/** Slots of a {@link LocalServer}. They stay reserved until one of the methods is called. */
export interface SlotReservation {
  /** The server to lease the jobs to. */
  readonly serverId: string;
  readonly leaseMs: number;
  /** Runs the jobs, which are now leased to the server. */
  start(jobs: readonly ClaimedJob[]): void;
  /** Frees the slots. Called if the jobs were not leased to the server. */
  release(): void;
  /** Frees the slots after an error. The server then checks whether the jobs were leased to it. */
  fail(): void;
}
