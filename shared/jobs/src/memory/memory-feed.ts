import { type EventSubject, type JobEvent, stateEventsOf, topicOf } from '../job/job-event.js';
import { readMeta } from '../job/meta.js';
import type { FeedPage, FeedRequest, JobFeed } from '../storage/job-feed.js';
import type { Clock } from '../storage/clock.js';
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

  async read({ since, spanMs = Infinity, topics }: FeedRequest): Promise<FeedPage> {
    const now = this.#clock.now();
    if (since === null) return { events: [], resumeAt: new Date(now), caughtUp: true };
    const until = since.getTime() + spanMs;
    const events = [...this.#jobs.all()]
      .flatMap((record) => (hasNews(record, since) ? eventsOf(record) : []))
      .filter((event) => event.at >= since && event.at.getTime() < until && topics.includes(topicOf(event)))
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    const settledMs = Math.max(since.getTime(), Math.min(now, until));
    return { events, resumeAt: new Date(settledMs), caughtUp: until > now };
  }

  async reportsOf(jobId: string, since: Date): Promise<JobEvent[]> {
    const record = this.#jobs.find(jobId);
    return record === undefined ? [] : reportsOf(record).filter(({ at }) => at >= since);
  }
}

function hasNews({ transitions, progress, logWrittenAt }: JobRecord, since: Date): boolean {
  const latest = [transitions.at(-1)?.at, progress?.writtenAt, logWrittenAt.at(-1)];
  return latest.some((at) => at !== undefined && at >= since);
}

function eventsOf(record: JobRecord): JobEvent[] {
  return [
    ...stateEventsOf({ ...record, ...readMeta(record.meta) }, toAttempts(record)),
    ...reportsOf(record),
  ];
}

function reportsOf(record: JobRecord): JobEvent[] {
  const { id: jobId, name, queue, progress, log, logWrittenAt } = record;
  const { tags, batchId, recurringJobId } = readMeta(record.meta);
  const subject = (attempt: number, at: Date): EventSubject => {
    return { at, jobId, name, queue, attempt, tags, batchId, recurringJobId };
  };
  const events = log.map(({ id: line, attempt, level, message, fields }, place): JobEvent => {
    const at = logWrittenAt[place] ?? record.createdAt;
    return { kind: 'log', ...subject(attempt, at), line, level, message, fields };
  });
  if (progress !== null) {
    const { percent, message, writtenAt } = progress;
    events.push({ kind: 'progress', ...subject(record.attempt, writtenAt), percent, message });
  }
  return events;
}
