import type { EnqueuedJob } from '../client/enqueue-options.js';
import { type JobEvent, keyOf, stateEventsOf } from '../job/job-event.js';
import type { Job } from '../job/job.js';
import { finishedStates, isFinished } from '../job/state.js';
import { consoleLogger, isLogger, type Logger } from '../server/logger.js';
import { type FeedPosition, positionAt, type ReportPage } from '../storage/job-feed.js';
import { checkStorage, type JobStorage } from '../storage/storage.js';
import { isDate, isInteger, isSignal, isString, maybe } from '../job/argument-check.js';
import { shown } from '../job/shown.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { checkEventFilter, type EventFilter, matchesFilter, topicsOf } from './event-filter.js';
import { FeedReader, nextSpan, pageLimit } from './feed-reader.js';
import { type DeliveredEvent, JobListener } from './job-listener.js';
import { JobLookups } from './job-lookups.js';
import { ListenerSet } from './listener-set.js';

export interface JobEventsOptions {
  /**
   * Receives a warning whenever reading the feed fails, and a message once it succeeds again. Writes to the console by
   * default.
   */
  readonly logger?: Logger;
  /** Minimum pause between polls once the reader has caught up, in milliseconds; 1 or more, 200 by default. */
  readonly pollIntervalMs?: number;
}

const eventsOptions: OptionNames<JobEventsOptions> = { logger: isLogger, pollIntervalMs: true };

/**
 * A stream of events. It can be iterated only once, and ends when the signal aborts, `JobEvents` is closed, or the
 * consumer falls too far behind. A stream of one job's events also ends when the job ends.
 */
export interface EventStream extends AsyncIterable<DeliveredEvent> {
  /** `true` if this is the stream of one job that ended before the requested start time, so no events follow. */
  readonly isOver: boolean;
  /**
   * Returns where a consumer can resume if it has read everything so far. Returns `null` until the stream has caught
   * up, while unread events are waiting, and while the feed is not being read. Always `null` for a stream of one job's
   * events.
   */
  position(): FeedPosition | null;
}

/**
 * Maximum age of a resume position, in milliseconds. Limited because reading several days of events would keep the
 * storage busy.
 */
const maxResumeAgeMs = 86_400_000;

/**
 * How far ahead of this process's reader a resume position can be, in milliseconds. A position is ahead if it comes
 * from a process that has already read further.
 */
const maxAheadMs = 60_000;

/**
 * The time span of the first page that a resuming listener reads, and the longest one, in milliseconds. A listener that
 * has left stops the replay after a page.
 */
const firstSpanMs = 10_000;
const longestSpanMs = 600_000;

type Source = Pick<JobStorage, 'feed' | 'jobs'>;

/**
 * Delivers job events to any number of listeners in this process. All listeners share one reader of the storage's feed.
 * The feed is read only while there are listeners, and for about ten seconds after the last one has left.
 */
export class JobEvents {
  readonly #storage: Source;
  readonly #jobs: JobLookups;
  readonly #listeners = new ListenerSet();
  readonly #reader: FeedReader;
  #closed = false;

  /**
   * @throws {RangeError} if `pollIntervalMs` is not at least 1
   * @throws {TypeError} if `storage` is not a storage, or an option is unknown
   */
  constructor(storage: Source, options: JobEventsOptions = {}) {
    checkStorage('JobEvents', storage, ['feed', 'jobs']);
    checkOptions('JobEvents', options, eventsOptions);
    const { logger = consoleLogger, pollIntervalMs = 200 } = options;
    if (typeof pollIntervalMs !== 'number' || !(pollIntervalMs >= 1))
      throw new RangeError(`pollIntervalMs must be at least 1, not ${shown(pollIntervalMs)}`);
    this.#storage = storage;
    this.#jobs = new JobLookups(storage.jobs);
    this.#reader = new FeedReader(storage.feed, this.#listeners, pollIntervalMs, logger);
  }

  /** Number of open waits and event streams. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Ends all waits and event streams. Waits and streams that are started later do not wait for new events. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.end();
    await this.#reader.stop();
  }

  /**
   * Resolves to the job once it is done, failed or cancelled. Resolves to the job in its current state when the timeout
   * elapses, the signal aborts or `close` is called. Resolves to `null` if the job does not exist.
   *
   * @param job the result of `enqueue`; it determines the types of the job's arguments and result
   * @param timeoutMs 0 to 2,147,483,647 (24 days)
   */
  waitForEnd<Args, Result>(
    job: EnqueuedJob<Args, Result>,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Job<Args, Result> | null>;
  /** Waits in the same way for the job with this id. */
  waitForEnd(id: string, timeoutMs: number, signal?: AbortSignal): Promise<Job | null>;
  async waitForEnd(
    jobOrId: string | EnqueuedJob,
    timeoutMs: number,
    signal?: AbortSignal,
  ): Promise<Job | null> {
    if (
      typeof jobOrId !== 'string' &&
      typeof (jobOrId as Partial<EnqueuedJob> | null | undefined)?.id !== 'string'
    )
      throw new TypeError(
        `waitForEnd needs the result of enqueue, or the id of a job, not ${shown(jobOrId)}`,
      );
    checkTimeout('waitForEnd: timeoutMs', timeoutMs);
    checkSignal('waitForEnd: signal', signal);
    const id = typeof jobOrId === 'string' ? jobOrId : jobOrId.id;
    const job = await this.#jobs.find(id);
    if (job === null || isFinished(job.state)) return job;
    const listener = this.#listen({ jobId: job.id, state: finishedStates }, null, signal);
    const timer = setTimeout(() => listener.end(), timeoutMs);
    try {
      const nextEvent = listener.waitForEvents();
      await Promise.race([this.#cover(listener, null), nextEvent]);
      const current = await this.#jobs.find(id);
      if (current === null || isFinished(current.state) || listener.isEnded) return current;
      await nextEvent;
      return await this.#jobs.find(id);
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(listener);
    }
  }

  /**
   * Streams the events of one job until the job ends. Starts at `since` or, if that is `null`, at the job's creation.
   * Returns `null` if the job does not exist.
   */
  async follow(
    id: string,
    since: Date | FeedPosition | null,
    signal?: AbortSignal,
  ): Promise<EventStream | null> {
    isString('follow: id', id);
    checkSince('follow: since', since);
    checkSignal('follow: signal', signal);
    const job = await this.#jobs.find(id);
    if (job === null) return null;
    const from = (since instanceof Date ? since : since?.at) ?? job.createdAt;
    const listener = this.#listen({ jobId: job.id }, from, signal);
    return {
      isOver: isFinished(job.state) && job.finishedAt !== null && job.finishedAt < from,
      [Symbol.asyncIterator]: () => this.#eventsOfJob(listener, from),
      position: () => null,
    };
  }

  /**
   * Streams all events that match the filter. Starts at `since` if that time is at most a day ago and at most a minute
   * in the future, otherwise now. Missed events are read from the storage in pages, one whenever the consumer has taken
   * the events of the last.
   *
   * @param since the position of an event that the consumer has received from an earlier stream, or a time
   * @throws {TypeError} if the filter has an unknown member
   */
  listen(filter: EventFilter, since: Date | FeedPosition | null, signal?: AbortSignal): EventStream {
    checkEventFilter(filter);
    checkSince('listen: since', since);
    checkSignal('listen: signal', signal);
    const from = since instanceof Date ? positionAt(since) : since;
    const listener = this.#listen(filter, from?.since ?? null, signal);
    let caughtUp = false;
    const events = this.#eventsOfAll(listener, from, () => (caughtUp = true));
    return {
      isOver: false,
      [Symbol.asyncIterator]: () => events,
      position: () => (caughtUp && listener.isDrained ? this.#reader.position : null),
    };
  }

  #listen(filter: EventFilter, since: Date | null, signal: AbortSignal | undefined): JobListener {
    const listener = new JobListener(filter);
    listener.from = since ?? this.#reader.position?.at ?? null;
    this.#listeners.add(listener);
    const leave = (): void => {
      listener.end();
      this.#listeners.delete(listener);
    };
    if (this.#closed || signal?.aborted === true) leave();
    else signal?.addEventListener('abort', leave, { once: true });
    return listener;
  }

  async #cover(listener: JobListener, since: Date | null): Promise<void> {
    if (!this.#closed) await this.#reader.cover(topicsOf(listener.filter), since);
  }

  async *#eventsOfJob(listener: JobListener, since: Date): AsyncGenerator<DeliveredEvent> {
    try {
      await this.#cover(listener, null);
      const { jobId = '' } = listener.filter;
      const [job, attempts] = await Promise.all([
        this.#jobs.find(jobId),
        this.#storage.jobs.listAttempts(jobId),
      ]);
      if (job === null) return;
      const delivered = new Set<string>();
      const states = stateEventsOf(job, attempts);
      yield* this.#past(listener, states, isFinished(job.state), since, delivered);
      if (isFinished(job.state)) return;
      for await (const { event } of this.#live(listener, new Set())) {
        if (delivered.has(keyOf(event))) continue;
        delivered.add(keyOf(event));
        const isEnd = event.kind === 'state' && isFinished(event.state);
        // Reads the reports again, because the last log lines and progress may become visible only after the job's end.
        if (isEnd) yield* this.#past(listener, [], false, since, delivered);
        yield { event, resumeAt: positionAfter(event, isEnd) };
        if (isEnd) return;
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /**
   * Yields one job's state changes and reports from `since` on that have not been delivered yet, in chronological order.
   * Reads the reports in pages.
   */
  async *#past(
    listener: JobListener,
    states: readonly JobEvent[],
    hasEnded: boolean,
    since: Date,
    delivered: Set<string>,
  ): AsyncGenerator<DeliveredEvent> {
    const { jobId = '' } = listener.filter;
    const end = hasEnded ? states.at(-1) : undefined;
    let from: Date | null = since;
    let waiting = states;
    while (from !== null) {
      const page: ReportPage = await this.#storage.feed.reportsOf(jobId, from, pageLimit);
      const { next } = page;
      const isDue = (event: JobEvent): boolean => next === null || (event !== end && event.at < next);
      const due = [...page.events, ...waiting.filter(isDue)];
      yield* this.#undelivered(due, hasEnded && next === null, since, delivered);
      waiting = waiting.filter((event) => !isDue(event));
      from = next;
    }
  }

  /** Yields the events at or after `since` that have not been delivered yet, in chronological order. */
  *#undelivered(
    events: readonly JobEvent[],
    hasEnded: boolean,
    since: Date,
    delivered: Set<string>,
  ): Generator<DeliveredEvent> {
    const past = events
      .filter((event) => event.at >= since && !delivered.has(keyOf(event)))
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    for (const event of past) {
      delivered.add(keyOf(event));
      yield { event, resumeAt: positionAfter(event, hasEnded && event === past.at(-1)) };
    }
  }

  async *#eventsOfAll(
    listener: JobListener,
    since: FeedPosition | null,
    caughtUp: () => void,
  ): AsyncGenerator<DeliveredEvent> {
    try {
      await this.#cover(listener, since?.at ?? null);
      const delivered = new Set<string>();
      if (since !== null && this.#isRecent(since.at)) yield* this.#missed(listener, since, delivered);
      else listener.from = null;
      caughtUp();
      yield* this.#live(listener, delivered);
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /**
   * Returns whether a listener can resume from `since`: the time must be at most a day before the reader's position and
   * at most a minute after it.
   */
  #isRecent(since: Date): boolean {
    const agoMs = (this.#reader.position?.at.getTime() ?? 0) - since.getTime();
    return agoMs <= maxResumeAgeMs && agoMs >= -maxAheadMs;
  }

  /**
   * Yields the events at or after `since` that this listener has missed: first older events from the storage, then
   * recent ones from memory. Reads no further page once the listener has ended.
   */
  async *#missed(
    listener: JobListener,
    since: FeedPosition,
    delivered: Set<string>,
  ): AsyncGenerator<DeliveredEvent> {
    const { recent } = this.#reader;
    const topics = topicsOf(listener.filter);
    let position = since;
    for (let spanMs = firstSpanMs; position.at < recent.from && !listener.isEnded;) {
      const page = await this.#storage.feed.read({
        from: position,
        spanMs,
        limit: pageLimit,
        topics,
        filter: listener.filter,
      });
      delivered.clear();
      const after = page.next ?? positionAt(page.settled > position.at ? page.settled : position.at);
      yield* deliver(listener, page.events, delivered, position, after);
      position = after;
      if (page.next === null) break;
      spanMs = nextSpan(spanMs, page.events.length, longestSpanMs);
    }
    if (listener.isEnded) return;
    const fresh = recent.since(position.at).filter((event) => !delivered.has(keyOf(event)));
    yield* deliver(listener, fresh, delivered, position, this.#reader.position ?? position);
  }

  async *#live(listener: JobListener, delivered: Set<string>): AsyncGenerator<DeliveredEvent> {
    for (;;) {
      for (const fresh of listener.take()) if (!delivered.delete(keyOf(fresh.event))) yield fresh;
      if (listener.isEnded && listener.isDrained) return;
      await listener.waitForEvents();
    }
  }
}

const checkTimeout = isInteger();
const checkSignal = maybe(isSignal);

/** @throws {TypeError} unless the value is a time, a position or `null` */
function checkSince(what: string, since: Date | FeedPosition | null): void {
  const isPosition = typeof since === 'object' && since !== null && 'at' in since;
  if (since !== null) isDate(isPosition ? `${what}.at` : what, isPosition ? since.at : since);
}

/**
 * Returns the resume position after an event, for a listener that follows one job. The position is the event's time,
 * because one job's events are delivered in order. After the job's last event, it is one millisecond later, so that a
 * listener that resumes there does not receive this event again.
 */
function positionAfter({ at }: JobEvent, isEnd: boolean): FeedPosition {
  return positionAt(isEnd ? new Date(at.getTime() + 1) : at);
}

function* deliver(
  listener: JobListener,
  events: readonly JobEvent[],
  delivered: Set<string>,
  before: FeedPosition,
  after: FeedPosition,
): Generator<DeliveredEvent> {
  const wanted = events.filter((event) => matchesFilter(listener.filter, event));
  for (const event of wanted) {
    delivered.add(keyOf(event));
    yield { event, resumeAt: event === wanted.at(-1) ? after : before };
  }
}
