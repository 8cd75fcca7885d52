import { type JobEvent, keyOf, stateEventsOf } from '../job/job-event.js';
import type { Job } from '../job/job.js';
import { finishedStates, isFinished } from '../job/state.js';
import { type Logger, silentLogger } from '../server/logger.js';
import type { JobStorage } from '../storage/storage.js';
import { admits, type EventFilter, topicsWanted } from './event-filter.js';
import { FeedFollower } from './feed-follower.js';
import { type HeardEvent, JobListener } from './job-listener.js';
import { JobLookups } from './job-lookups.js';
import { ListenerSet } from './listener-set.js';

export interface JobEventsOptions {
  readonly logger?: Logger;
  /** Milliseconds between polls while there are listeners; 1 or more, 200 by default. */
  readonly pollIntervalMs?: number;
}

/**
 * An event stream, to be iterated once. Ends when the signal aborts, the process stops, or the consumer falls too far
 * behind.
 */
export interface EventStream extends AsyncIterable<HeardEvent> {
  /** `true` if no further events can come. */
  readonly isOver: boolean;
  /**
   * Returns the position from which a consumer that has read everything so far can resume; `null` if events are
   * waiting to be read.
   */
  position(): Date | null;
}

/** The oldest position from which a listener may resume: reading days of events would keep the storage busy. */
const longestAbsenceMs = 86_400_000;

/**
 * How far in the future a position may lie: positions come from the storage's clock, which this process knows only as
 * of the latest read.
 */
const farthestAheadMs = 60_000;

type Source = Pick<JobStorage, 'feed' | 'jobs'>;

/**
 * Reports what happens to jobs to any number of listeners in this process. All listeners share one reader of the
 * storage's feed; without listeners, nothing is read.
 */
export class JobEvents {
  readonly #storage: Source;
  readonly #jobs: JobLookups;
  readonly #listeners = new ListenerSet();
  readonly #follower: FeedFollower;
  #closed = false;

  /** @throws {RangeError} if the interval is out of bounds */
  constructor(storage: Source, { logger = silentLogger, pollIntervalMs = 200 }: JobEventsOptions = {}) {
    if (!(pollIntervalMs >= 1))
      throw new RangeError(`pollIntervalMs must be at least 1, not ${pollIntervalMs}`);
    this.#storage = storage;
    this.#jobs = new JobLookups(storage.jobs);
    this.#follower = new FeedFollower(storage.feed, this.#listeners, pollIntervalMs, logger);
  }

  /** Number of open waits and event streams. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Ends all waits and event streams; those started later end immediately. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#listeners.end();
    await this.#follower.stop();
  }

  /**
   * Resolves to the job when it is done, failed or cancelled, or to its current state when the timeout elapses, the
   * signal aborts or this process stops. Resolves to `null` if the job does not exist.
   */
  async waitForEnd(id: string, timeoutMs: number, signal?: AbortSignal): Promise<Job | null> {
    const job = await this.#jobs.find(id);
    if (job === null || isFinished(job.state)) return job;
    const listener = this.#listen({ jobId: job.id, state: finishedStates }, null, signal);
    const timer = setTimeout(() => listener.end(), timeoutMs);
    try {
      const news = listener.news();
      await Promise.race([this.#cover(listener, null), news]);
      const meanwhile = await this.#jobs.find(id);
      if (meanwhile === null || isFinished(meanwhile.state) || listener.isEnded) return meanwhile;
      await news;
      return await this.#jobs.find(id);
    } finally {
      clearTimeout(timer);
      this.#listeners.delete(listener);
    }
  }

  /**
   * Streams the events of one job, from its creation or from `since`, until it ends. Returns `null` if the job does
   * not exist.
   */
  async follow(id: string, since: Date | null, signal?: AbortSignal): Promise<EventStream | null> {
    const job = await this.#jobs.find(id);
    if (job === null) return null;
    const from = since ?? job.createdAt;
    const listener = this.#listen({ jobId: job.id }, from, signal);
    return {
      isOver: isFinished(job.state) && job.finishedAt !== null && job.finishedAt < from,
      [Symbol.asyncIterator]: () => this.#course(listener, from),
      position: () => null,
    };
  }

  /**
   * Streams the events of all jobs that match the filter, from now on, or from `since` if that is within the last
   * day. A `since` that is older or in the future is ignored.
   */
  listen(filter: EventFilter, since: Date | null, signal?: AbortSignal): EventStream {
    const listener = this.#listen(filter, since, signal);
    let caughtUp = false;
    const events = this.#all(listener, since, () => (caughtUp = true));
    return {
      isOver: false,
      [Symbol.asyncIterator]: () => events,
      position: () => (caughtUp && listener.hasHeardAll ? this.#follower.settled : null),
    };
  }

  #listen(filter: EventFilter, since: Date | null, signal: AbortSignal | undefined): JobListener {
    const listener = new JobListener(filter);
    listener.from = since ?? this.#follower.settled;
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
    if (!this.#closed) await this.#follower.cover(topicsWanted(listener.filter), since);
  }

  async *#course(listener: JobListener, since: Date): AsyncGenerator<HeardEvent> {
    try {
      await this.#cover(listener, null);
      const { jobId = '' } = listener.filter;
      const [job, attempts] = await Promise.all([
        this.#jobs.find(jobId),
        this.#storage.jobs.listAttempts(jobId),
      ]);
      if (job === null) return;
      const told = new Set<string>();
      const course = [...(await this.#storage.feed.saidBy(jobId, since)), ...stateEventsOf(job, attempts)];
      yield* this.#tellCourse(course, isFinished(job.state), since, told);
      if (isFinished(job.state)) return;
      for await (const { event } of this.#heard(listener, new Set())) {
        if (told.has(keyOf(event))) continue;
        told.add(keyOf(event));
        const isEnd = event.kind === 'state' && isFinished(event.state);
        // The last logs and progress may become visible only after the end.
        if (isEnd) yield* this.#tellCourse(await this.#storage.feed.saidBy(jobId, since), false, since, told);
        yield { event, resumeAt: placeAfter(event, isEnd) };
        if (isEnd) return;
      }
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** Yields events in order of time, without those already delivered. */
  *#tellCourse(
    events: readonly JobEvent[],
    hasEnded: boolean,
    since: Date,
    told: Set<string>,
  ): Generator<HeardEvent> {
    const course = events
      .filter((event) => event.at >= since && !told.has(keyOf(event)))
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
    for (const event of course) {
      told.add(keyOf(event));
      yield { event, resumeAt: placeAfter(event, hasEnded && event === course.at(-1)) };
    }
  }

  async *#all(listener: JobListener, since: Date | null, caughtUp: () => void): AsyncGenerator<HeardEvent> {
    try {
      await this.#cover(listener, since);
      const told = new Set<string>();
      if (since !== null && this.#isRecent(since)) yield* this.#missed(listener, since, told);
      else listener.from = null;
      caughtUp();
      yield* this.#heard(listener, told);
    } finally {
      this.#listeners.delete(listener);
    }
  }

  /** Compares with the storage's clock. */
  #isRecent(since: Date): boolean {
    const agoMs = (this.#follower.settled?.getTime() ?? 0) - since.getTime();
    return agoMs <= longestAbsenceMs && agoMs >= -farthestAheadMs;
  }

  /** Yields the events since then that this listener has not received: from the storage first, then from memory. */
  async *#missed(listener: JobListener, since: Date, told: Set<string>): AsyncGenerator<HeardEvent> {
    const { recent } = this.#follower;
    const topics = topicsWanted(listener.filter);
    let place = since;
    for (let spanMs = 10_000; place < recent.from && !listener.isEnded;) {
      const page = await this.#storage.feed.read({ since: place, spanMs, topics });
      told.clear();
      yield* share(listener, page.events, told, place, page.settled);
      place = page.settled;
      if (page.caughtUp) break;
      spanMs = page.events.length > 2_000 ? spanMs / 2 : Math.min(spanMs * 2, 86_400_000);
    }
    const fresh = recent.since(place).filter((event) => !told.has(keyOf(event)));
    yield* share(listener, fresh, told, place, this.#follower.settled ?? place);
  }

  async *#heard(listener: JobListener, told: Set<string>): AsyncGenerator<HeardEvent> {
    for (;;) {
      for (const heard of listener.take()) if (!told.delete(keyOf(heard.event))) yield heard;
      if (listener.isEnded && listener.hasHeardAll) return;
      await listener.news();
    }
  }
}

/**
 * A job's own events are delivered in order, so a listener resumes at the last event it received, and after the end
 * just behind it.
 */
function placeAfter({ at }: JobEvent, isEnd: boolean): Date {
  return isEnd ? new Date(at.getTime() + 1) : at;
}

function* share(
  listener: JobListener,
  events: readonly JobEvent[],
  told: Set<string>,
  before: Date,
  after: Date,
): Generator<HeardEvent> {
  const wanted = events.filter((event) => admits(listener.filter, event));
  for (const event of wanted) {
    told.add(keyOf(event));
    yield { event, resumeAt: event === wanted.at(-1) ? after : before };
  }
}
