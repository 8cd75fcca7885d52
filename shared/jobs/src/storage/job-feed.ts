import type { EventTopic, JobEvent } from '../job/job-event.js';

/**
 * A place between two entries of the feed. Entries are ordered by time, in milliseconds, and then by the id of the job.
 * The time of an entry is that of the latest change of a job or of a report, and its events can be older: a job that has
 * ended also has a start.
 */
export interface FeedPosition {
  /** The time of the entry before this position. */
  readonly at: Date;
  /** The job of the entry before this position; {@link beforeAllIds} if all entries at this time are yet to be read. */
  readonly id: string;
  /** Events before this time are left out. */
  readonly since: Date;
}

/** An id that is less than that of every job. */
export const beforeAllIds = '00000000-0000-0000-0000-000000000000';

/** Returns the position from which all events at or after this time follow. */
export function positionAt(time: Date): FeedPosition {
  return { at: time, id: beforeAllIds, since: time };
}

/** Selects jobs. A job must match every member that is present. A list matches if it is empty or contains the job's value. */
export interface FeedFilter {
  readonly queue?: readonly string[];
  readonly name?: readonly string[];
  /** Matches jobs with at least one of these tags. */
  readonly tag?: readonly string[];
  readonly batchId?: readonly string[];
  readonly recurringJobId?: readonly string[];
}

export interface FeedRequest {
  readonly from: FeedPosition;
  /**
   * Maximum length of the time span to read, in milliseconds. By default, the read extends to the present. A shorter span
   * makes the read cheaper if many more entries than `limit` follow.
   */
  readonly spanMs?: number;
  /** Maximum number of entries of each kind to read: ended, started, waiting and new jobs, and reports. */
  readonly limit: number;
  /** The topics to read. Reading fewer topics is cheaper. */
  readonly topics: readonly EventTopic[];
  /** The jobs whose events are read; all by default. */
  readonly filter?: FeedFilter;
}

export interface FeedPage {
  /** Events of the entries that follow `from`, oldest first. */
  readonly events: JobEvent[];
  /**
   * Where the next page starts. `null` if the page extends to the present. It may then contain events after `settled`,
   * which a read from `settled` returns again.
   */
  readonly next: FeedPosition | null;
  /**
   * No further entries with an earlier time are expected. Taken before the entries are read, so the next series of pages
   * can start here once `next` is `null`.
   */
  readonly settled: Date;
}

/** Reports of one job, in the order in which they were written. */
export interface ReportPage {
  readonly events: JobEvent[];
  /** The time from which to read on; `null` if there are no more reports. */
  readonly next: Date | null;
}

/**
 * The events of all jobs, in chronological order. Events are not stored, but derived from the jobs and their reports.
 * They include:
 *
 * - the start of every attempt and the end of every job
 * - the other state changes that `stateEventsOf` returns
 * - log lines and progress
 *
 * A lost attempt appears only when the next attempt starts. Events of deleted jobs are not included. A reader that reads
 * page after page, and then continues from the `settled` of the first of them, in this process or another, misses no
 * events but may receive some twice.
 */
export interface JobFeed {
  read(request: FeedRequest): Promise<FeedPage>;
  /** Returns the time before which no new entries are expected. */
  readSettled(): Promise<Date>;
  /**
   * Returns events for one job's log lines and for the latest progress of its attempts, if written at or after `since`.
   *
   * @param limit maximum number of reports; reports of the same millisecond as the last one are added
   */
  reportsOf(jobId: string, since: Date, limit: number): Promise<ReportPage>;
}
