import type { EventTopic, JobEvent } from '../job/job-event.js';

export interface FeedRequest {
  /** Where to start: `resumeAt` of an earlier read. `null` reads no events and returns only the current position. */
  readonly since: Date | null;
  /** Stops this many milliseconds after `since`, to catch up in steps; by default, reads up to now. */
  readonly spanMs?: number;
  /** The topics to read; fewer are cheaper. */
  readonly topics: readonly EventTopic[];
}

export interface FeedPage {
  /** Events at or after `since`, oldest first. */
  readonly events: JobEvent[];
  /**
   * Where to continue: no further event before this time can become visible. Events of this page that are later than
   * this time will be returned again.
   */
  readonly resumeAt: Date;
  /** `false` if more events can be read now. */
  readonly caughtUp: boolean;
}

/**
 * The events of all jobs in order of time. They are derived from what is stored about jobs, so nothing is written for
 * them. Includes every end of a job and every start of an attempt, no matter which process wrote it or how long the
 * commit took, and the other state changes that `stateEventsOf` returns. A lost attempt appears only when the next one
 * starts.
 *
 * A reader that continues from `resumeAt`, in this process or another, misses nothing but may get some events twice.
 * Events of deleted jobs are not included.
 */
export interface JobFeed {
  read(request: FeedRequest): Promise<FeedPage>;
  /** Returns the log lines and the latest progress of one job's attempts at or after `since`, oldest first. */
  reportsOf(jobId: string, since: Date): Promise<JobEvent[]>;
}
