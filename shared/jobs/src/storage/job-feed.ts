import type { EventTopic, JobEvent } from '../job/job-event.js';

export interface FeedRequest {
  /**
   * Where to start: the `resumeAt` of an earlier read. If `null`, no events are read, and the result contains only the
   * current position.
   */
  readonly since: Date | null;
  /**
   * Maximum length of the time span to read, in milliseconds; lets a reader catch up in steps. By default, the read
   * extends to the present.
   */
  readonly spanMs?: number;
  /** The topics to read. Reading fewer topics is cheaper. */
  readonly topics: readonly EventTopic[];
}

export interface FeedPage {
  /** Events at or after `since`, oldest first. */
  readonly events: JobEvent[];
  /**
   * The value to pass as `since` for the next read. The page contains all events of the requested topics from `since`
   * up to this time. If the page also contains later events, the next read returns them again.
   */
  readonly resumeAt: Date;
  /** `false` if the read ended before the present; the next page can then be read immediately. */
  readonly caughtUp: boolean;
}

/**
 * The events of all jobs, in chronological order. Events are not stored, but derived from the jobs and their reports.
 * They include:
 *
 * - the start of every attempt and the end of every job
 * - the other state changes that `stateEventsOf` returns
 * - log lines and progress
 *
 * A lost attempt appears only when the next attempt starts. Events of deleted jobs are not included. A reader that
 * continues from `resumeAt`, in this process or another, misses no events but may receive some twice.
 */
export interface JobFeed {
  read(request: FeedRequest): Promise<FeedPage>;
  /**
   * Returns events for one job's log lines and for the latest progress of its attempts, if written at or after `since`.
   * The events are in no particular order.
   */
  reportsOf(jobId: string, since: Date): Promise<JobEvent[]>;
}
