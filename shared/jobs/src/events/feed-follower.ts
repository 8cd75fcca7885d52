import type { EventTopic } from '../job/job-event.js';
import type { Logger } from '../server/logger.js';
import { Loop } from '../server/loop.js';
import type { JobFeed } from '../storage/job-feed.js';
import type { ListenerSet } from './listener-set.js';
import { RecentEvents } from './recent-events.js';

/** A reader that is far behind catches up in steps of this length, in milliseconds. */
const spanMs = 10_000;

/** How long it keeps polling without listeners, in milliseconds. */
const lingerMs = 10_000;

/**
 * How far before the earliest resume position to start, in milliseconds: after a restart many listeners reconnect,
 * and the positions of the others may be a heartbeat or two older.
 */
const runUpMs = 30_000;

const farthestBackMs = 60_000;

/** Reads the feed on behalf of all listeners of a process, as long as there are any. */
export class FeedFollower {
  readonly recent = new RecentEvents();
  readonly #feed: JobFeed;
  readonly #listeners: ListenerSet;
  readonly #pollMs: number;
  readonly #loop: Loop;
  #settled: Date | undefined;
  #covered: readonly EventTopic[] = [];
  #newcomers: { readonly resumesAt: Date | null; readonly covered: () => void }[] = [];
  #lonelySinceMs = Infinity;

  constructor(feed: JobFeed, listeners: ListenerSet, pollMs: number, logger: Logger) {
    this.#feed = feed;
    this.#listeners = listeners;
    this.#pollMs = pollMs;
    this.#loop = new Loop({ task: 'reading the feed of jobs', runOnce: () => this.#runOnce(), logger });
  }

  /** The position from which an up-to-date listener can resume; `null` before the first read. */
  get settled(): Date | null {
    return this.#settled ?? null;
  }

  /**
   * Resolves once a listener that was just added can no longer miss an event.
   *
   * @param topics the topics the listener wants
   * @param resumesAt the position from which the listener resumes, if it does
   */
  async cover(topics: readonly EventTopic[], resumesAt: Date | null): Promise<void> {
    if (this.#settled !== undefined && topics.every((topic) => this.#covered.includes(topic))) return;
    await new Promise<void>((covered) => {
      this.#newcomers.push({ resumesAt, covered });
      this.#loop.start();
    });
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const { covered } of this.#newcomers.splice(0)) covered();
  }

  async #runOnce(): Promise<number> {
    const startedMs = performance.now();
    if (this.#listeners.size > 0) this.#lonelySinceMs = Infinity;
    else this.#lonelySinceMs = Math.min(this.#lonelySinceMs, startedMs);
    if (startedMs - this.#lonelySinceMs > lingerMs) return this.#rest();

    const newcomers = [...this.#newcomers];
    const topics = this.#listeners.topics;
    const isCovered = topics.every((topic) => this.#covered.includes(topic));
    const since = this.#settled === undefined || !isCovered ? await this.#begin(newcomers) : this.#settled;
    const page = await this.#feed.read({ since, spanMs, topics });
    this.#covered = topics;
    this.#settled = page.settled;
    this.#listeners.tell(this.recent.add(page.events), since, page.settled);
    this.recent.trim(page.settled);
    this.#newcomers = this.#newcomers.filter((newcomer) => !newcomers.includes(newcomer));
    for (const { covered } of newcomers) covered();
    // Uses at most a quarter of the time for reading, however much there is to read.
    return page.caughtUp ? Math.max(this.#pollMs, 4 * (performance.now() - startedMs)) : 0;
  }

  /** Returns the position from which every listener gets all of its events. */
  async #begin(newcomers: readonly { readonly resumesAt: Date | null }[]): Promise<Date> {
    const { settled: now } = await this.#feed.read({ since: null, topics: [] });
    this.#listeners.hearFrom(now);
    const places = newcomers.flatMap(({ resumesAt }) => (resumesAt === null ? [] : [resumesAt.getTime()]));
    const farthestBack = now.getTime() - farthestBackMs;
    const earliest = places.reduce((one, other) => Math.min(one, other), Infinity);
    const resumed = Math.max(earliest - runUpMs, farthestBack);
    const from = new Date(Math.min(resumed, this.#settled?.getTime() ?? Infinity, now.getTime()));
    this.recent.begin(from);
    return from;
  }

  #rest(): number {
    this.#settled = undefined;
    this.#covered = [];
    this.recent.clear();
    void this.#loop.stop();
    return 0;
  }
}
