import type { EventTopic } from '../job/job-event.js';
import type { Logger } from '../server/logger.js';
import { Loop } from '../server/loop.js';
import type { JobFeed } from '../storage/job-feed.js';
import type { ListenerSet } from './listener-set.js';
import { RecentEvents } from './recent-events.js';

/** Maximum length of the time span that one read covers, in milliseconds. */
const spanMs = 10_000;

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
  #position: Date | undefined;
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
  get position(): Date | null {
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
    const since = this.#position === undefined || !isCovered ? await this.#begin(joining) : this.#position;
    const page = await this.#feed.read({ since, spanMs, topics });
    this.#covered = topics;
    this.#position = page.resumeAt;
    this.#listeners.deliver(this.recent.add(page.events), since, page.resumeAt);
    this.recent.trim(page.resumeAt);
    this.#joining = this.#joining.filter((entry) => !joining.includes(entry));
    for (const { covered } of joining) covered();
    // Once caught up, pauses for at least four times the duration of this run, to leave the storage time for other
    // work.
    return page.caughtUp ? Math.max(this.#pollMs, 4 * (performance.now() - startedMs)) : 0;
  }

  /**
   * Returns the position at which to start reading, so that new and resuming listeners miss no event. Also sets the
   * starting point of every listener that has none.
   */
  async #begin(joining: readonly { readonly resumesAt: Date | null }[]): Promise<Date> {
    const { resumeAt: now } = await this.#feed.read({ since: null, topics: [] });
    this.#listeners.startFrom(now);
    const positions = joining.flatMap(({ resumesAt }) => (resumesAt === null ? [] : [resumesAt.getTime()]));
    const oldest = now.getTime() - maxReplayMs;
    const earliest = positions.reduce((one, other) => Math.min(one, other), Infinity);
    const resumed = Math.max(earliest - resumeMarginMs, oldest);
    const from = new Date(Math.min(resumed, this.#position?.getTime() ?? Infinity, now.getTime()));
    this.recent.begin(from);
    return from;
  }

  #pause(): number {
    this.#position = undefined;
    this.#covered = [];
    this.recent.clear();
    void this.#loop.stop();
    return 0;
  }
}
