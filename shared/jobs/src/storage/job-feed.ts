import type { EventTopic, JobEvent } from '../job/job-event.js';

export interface FeedRequest {
  /**
   * Where to start: the `resumeAt` of an earlier read. `null` reads no events and returns only the current position.
   */
  readonly since: Date | null;
  /** Length of the time span to read, in milliseconds, for catching up in steps. By default, reads up to now. */
  readonly spanMs?: number;
  /** The topics to read. The fewer, the cheaper the read. */
  readonly topics: readonly EventTopic[];
}

export interface FeedPage {
  /** Events at or after `since`, oldest first. */
  readonly events: JobEvent[];
  /**
   * Where to continue: this page includes all events before this time, and no more of them can become visible. Events
   * of this page at or after this time are returned again by the next read.
   */
  readonly resumeAt: Date;
  /** `false` if more events can be read now. */
  readonly caughtUp: boolean;
}

/**
 * The events of all jobs, in chronological order. Events are not stored, but derived from the jobs and their reports.
 * The feed includes the end of every job and the start of every attempt, no matter which process wrote them or how long
 * the commit took, and the other state changes that `stateEventsOf` returns. The loss of an attempt appears only when
 * the next attempt starts.
 *
 * A reader that continues from `resumeAt`, in this process or another, misses no events but may receive some twice.
 * Events of deleted jobs are not included.
 */
export interface JobFeed {
  read(request: FeedRequest): Promise<FeedPage>;
  /** Returns the log lines and the latest progress of one job's attempts at or after `since`, oldest first. */
  reportsOf(jobId: string, since: Date): Promise<JobEvent[]>;
}
