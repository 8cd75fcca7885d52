import { matchesJobFilter } from '../events/event-filter.js';
import { type EventSubject, type JobEvent, stateEventsOf } from '../job/job-event.js';
import { readMeta } from '../job/meta.js';
import {
  compareEntries,
  type FeedEntry,
  type FeedFilter,
  type FeedPage,
  feedPageOf,
  type FeedRequest,
  type JobFeed,
  type ReportPage,
} from '../storage/job-feed.js';
import type { Clock } from '../job/clock.js';
import { type JobRecord, toAttempts } from './job-record.js';
import type { MemoryJobs } from './memory-jobs.js';

/** Derives events from the stored jobs. `read` scans all jobs, which is fast enough for the few kept in memory. */
export class MemoryFeed implements JobFeed {
  readonly #jobs: Pick<MemoryJobs, 'all' | 'find'>;
  readonly #clock: Clock;

  constructor(jobs: Pick<MemoryJobs, 'all' | 'find'>, clock: Clock) {
    this.#jobs = jobs;
    this.#clock = clock;
  }

  async read(request: FeedRequest): Promise<FeedPage> {
    const { from, spanMs = Infinity, limit, filter = {} } = request;
    const now = this.#clock.now();
    const untilMs = from.at.getTime() + spanMs;
    const entries = [...this.#jobs.all()]
      .flatMap((record) => (hasNews(record, from.at) && matchesJob(filter, record) ? entriesOf(record) : []))
      .filter((entry) => compareEntries(entry, from) > 0 && entry.at.getTime() < untilMs)
      .toSorted(compareEntries);
    return feedPageOf(
      request,
      [firstOf(entries, limit)],
      untilMs > now ? null : new Date(untilMs),
      new Date(now),
    );
  }

  async readSettled(): Promise<Date> {
    return new Date(this.#clock.now());
  }

  async reportsOf(jobId: string, since: Date, limit: number): Promise<ReportPage> {
    const record = this.#jobs.find(jobId);
    const reports = record === undefined ? [] : reportsOf(record).filter(({ at }) => at >= since);
    const events = reports.toSorted((one, other) => one.at.getTime() - other.at.getTime());
    const last = events[limit - 1]?.at;
    if (last === undefined) return { events, next: null };
    return { events: events.filter(({ at }) => at <= last), next: new Date(last.getTime() + 1) };
  }
}

function hasNews({ transitions, progress, logWrittenAt }: JobRecord, since: Date): boolean {
  const latest = [transitions.at(-1)?.at, progress?.writtenAt, logWrittenAt.at(-1)];
  return latest.some((at) => at !== undefined && at >= since);
}

/** Returns the first entries, and those in the same place as the last of them. */
function firstOf(entries: readonly FeedEntry[], limit: number): readonly FeedEntry[] {
  const last = entries[limit - 1];
  return last === undefined ? entries : entries.filter((entry) => compareEntries(entry, last) <= 0);
}

/** Returns an entry for each event of a job. */
function entriesOf(record: JobRecord): FeedEntry[] {
  const { id } = record;
  return [
    ...stateEventsOf({ ...record, ...readMeta(record.meta) }, toAttempts(record)),
    ...reportsOf(record),
  ].map((event) => ({ at: event.at, id, events: [event] }));
}

function matchesJob(filter: FeedFilter, { name, queue, meta }: JobRecord): boolean {
  const { tags, batchId, recurringJobId } = readMeta(meta);
  return matchesJobFilter(filter, { name, queue, tags, batchId, recurringJobId });
}

function reportsOf(record: JobRecord): JobEvent[] {
  const { id: jobId, name, queue, progress, log, logWrittenAt } = record;
  const { tags, batchId, recurringJobId } = readMeta(record.meta);
  const subject = (attempt: number, at: Date): EventSubject => {
    return { at, jobId, name, queue, attempt, tags, batchId, recurringJobId };
  };
  const events = log.map(({ id: line, attempt, level, message, fields }, index): JobEvent => {
    const at = logWrittenAt[index] ?? record.createdAt;
    return { kind: 'log', ...subject(attempt, at), line, level, message, fields };
  });
  if (progress !== null) {
    const { percent, message, writtenAt } = progress;
    events.push({ kind: 'progress', ...subject(record.attempt, writtenAt), percent, message });
  }
  return events;
}
