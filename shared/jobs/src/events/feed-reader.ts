import type { EventTopic } from '../job/job-event.js';
import type { Logger } from '../server/logger.js';
import { Loop } from '../server/loop.js';
import { type FeedPosition, type JobFeed, positionAt } from '../storage/job-feed.js';
import type { ListenerSet } from './listener-set.js';
import { RecentEvents } from './recent-events.js';

/** Maximum length of the time span that one read covers, in milliseconds. */
const maxSpanMs = 10_000;

/** Maximum number of entries of each kind that one read returns. */
export const pageLimit = 1_000;

/** How long the reader keeps polling after the last listener has left, in milliseconds. */
const lingerMs = 10_000;

/**
 * How far before the earliest resume position the reader starts, in milliseconds. Covers listeners that reconnect
 * slightly later and resume from slightly older positions.
 */
const resumeMarginMs = 30_000;

/**
 * How far back the reader goes for resuming listeners, in milliseconds. Older events are read separately for each
 * listener.
 */
const maxReplayMs = 60_000;

/** Reads the feed for all listeners in this process. Stops about ten seconds after the last listener has left. */
export class FeedReader {
  readonly recent = new RecentEvents();
  readonly #feed: JobFeed;
  readonly #listeners: ListenerSet;
  readonly #pollMs: number;
  readonly #loop: Loop;
  #position: FeedPosition | undefined;
  /** Where the next page of the current pass starts; `null` between passes. */
  #cursor: FeedPosition | null = null;
  /** The position from which the next pass starts, once the current one has reached the present. */
  #settled = new Date(0);
  #spanMs = maxSpanMs;
  #covered: readonly EventTopic[] = [];
  #joining: { readonly resumesAt: Date | null; readonly covered: () => void }[] = [];
  #idleSinceMs = Infinity;

  constructor(feed: JobFeed, listeners: ListenerSet, pollMs: number, logger: Logger) {
    this.#feed = feed;
    this.#listeners = listeners;
    this.#pollMs = pollMs;
    this.#loop = new Loop({ task: 'reading the feed of jobs', runOnce: () => this.#runOnce(), logger });
  }

  /**
   * Where a listener can resume if it has received all events so far. `null` before the first read, and after reading
   * has stopped because there are no listeners.
   */
  get position(): FeedPosition | null {
    return this.#position ?? null;
  }

  /**
   * Resolves once a newly added listener can no longer miss an event, or when the reader is stopped.
   *
   * @param topics the topics that the listener wants
   * @param resumesAt the position from which the listener resumes; `null` if it starts now
   */
  async cover(topics: readonly EventTopic[], resumesAt: Date | null): Promise<void> {
    if (this.#position !== undefined && topics.every((topic) => this.#covered.includes(topic))) return;
    await new Promise<void>((covered) => {
      this.#joining.push({ resumesAt, covered });
      this.#loop.start();
    });
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const { covered } of this.#joining.splice(0)) covered();
  }

  async #runOnce(): Promise<number> {
    const startedMs = performance.now();
    if (this.#listeners.size > 0) this.#idleSinceMs = Infinity;
    else this.#idleSinceMs = Math.min(this.#idleSinceMs, startedMs);
    if (startedMs - this.#idleSinceMs > lingerMs) return this.#pause();

    const joining = [...this.#joining];
    const topics = this.#listeners.topics;
    const isCovered = topics.every((topic) => this.#covered.includes(topic));
    const continued = isCovered ? this.#position : undefined;
    const before = continued ?? positionAt(await this.#begin(joining));
    const cursor = continued === undefined ? null : this.#cursor;
    const page = await this.#feed.read({
      from: cursor ?? before,
      spanMs: this.#spanMs,
      limit: pageLimit,
      topics,
    });
    if (cursor === null) this.#settled = page.settled;
    this.#spanMs = nextSpan(this.#spanMs, page.events.length, maxSpanMs);
    this.#cursor = page.next;
    this.#covered = topics;
    this.#position = this.#reached(before, page.next);
    this.#listeners.deliver(this.recent.add(page.events), before, this.#position);
    this.recent.trim(this.#position.at);
    this.#joining = this.#joining.filter((entry) => !joining.includes(entry));
    for (const { covered } of joining) covered();
    // Once caught up, pauses for at least four times the duration of this run, to leave the storage time for other
    // work.
    return page.next === null ? Math.max(this.#pollMs, 4 * (performance.now() - startedMs)) : 0;
  }

  /** Returns the position that listeners have reached after a page, of which `next` follows. Never goes back. */
  #reached(before: FeedPosition, next: FeedPosition | null): FeedPosition {
    const settled = this.#settled > before.at ? this.#settled : before.at;
    if (next === null) return positionAt(settled);
    return next.at <= settled ? next : { ...positionAt(settled), since: before.since };
  }

  /**
   * Returns the position at which to start reading, so that new and resuming listeners miss no event. Also sets the
   * starting point of every listener that has none.
   */
  async #begin(joining: readonly { readonly resumesAt: Date | null }[]): Promise<Date> {
    const now = await this.#feed.readSettled();
    this.#listeners.startFrom(now);
    const positions = joining.flatMap(({ resumesAt }) => (resumesAt === null ? [] : [resumesAt.getTime()]));
    const oldest = now.getTime() - maxReplayMs;
    const earliest = positions.reduce((one, other) => Math.min(one, other), Infinity);
    const resumed = Math.max(earliest - resumeMarginMs, oldest);
    const from = new Date(Math.min(resumed, this.#position?.at.getTime() ?? Infinity, now.getTime()));
    this.recent.begin(from);
    return from;
  }

  #pause(): number {
    this.#position = undefined;
    this.#cursor = null;
    this.#covered = [];
    this.recent.clear();
    void this.#loop.stop();
    return 0;
  }
}

/**
 * Returns the time span for the next page: half of the last one if that was full, so that the storage does not sort many
 * more entries than it returns, and twice as much if it was almost empty.
 */
export function nextSpan(spanMs: number, events: number, maxMs: number): number {
  if (events >= pageLimit) return Math.max(spanMs / 2, 1);
  return events < pageLimit / 4 ? Math.min(spanMs * 2, maxMs) : spanMs;
}
