import { type EventTopic, type JobEvent, keyOf, topicOf } from '../job/job-event.js';

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

/** A change of a job, or reports of one, with the events that it stands for. */
export interface FeedEntry {
  /** When the change happened, in whole milliseconds. */
  readonly at: Date;
  readonly id: string;
  readonly events: readonly JobEvent[];
}

/**
 * Builds a page of the feed.
 *
 * @param sources for each kind of entry, the first entries after `request.from`, in order. If there are `request.limit`
 *   or more, further ones are assumed to follow
 * @param until the end of the time span that was read; `null` if that was the present
 * @param settled see {@link FeedPage.settled}
 */
export function feedPageOf(
  { from, limit, topics }: FeedRequest,
  sources: readonly (readonly FeedEntry[])[],
  until: Date | null,
  settled: Date,
): FeedPage {
  const last = sources
    .flatMap((source) => (source.length < limit ? [] : (source.at(-1) ?? [])))
    .toSorted(compareEntries)[0];
  const entries = sources.flat().filter((entry) => last === undefined || compareEntries(entry, last) <= 0);
  const events = new Map<string, JobEvent>();
  for (const event of entries.flatMap((entry) => entry.events))
    if (event.at >= from.since && topics.includes(topicOf(event))) events.set(keyOf(event), event);
  return {
    events: [...events.values()].toSorted((one, other) => one.at.getTime() - other.at.getTime()),
    next: nextOf(from, last, until),
    settled,
  };
}

function nextOf(from: FeedPosition, last: FeedEntry | undefined, until: Date | null): FeedPosition | null {
  if (last !== undefined) return { at: last.at, id: last.id, since: from.since };
  return until === null ? null : { at: until, id: beforeAllIds, since: from.since };
}

/** Compares the places of two entries in the feed. */
export function compareEntries(
  one: Pick<FeedEntry, 'at' | 'id'>,
  other: Pick<FeedEntry, 'at' | 'id'>,
): number {
  const apartMs = one.at.getTime() - other.at.getTime();
  return apartMs !== 0 ? apartMs : one.id < other.id ? -1 : one.id > other.id ? 1 : 0;
}
