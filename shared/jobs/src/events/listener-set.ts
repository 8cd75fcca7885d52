import type { EventTopic, JobEvent } from '../job/job-event.js';
import type { FeedPosition } from '../storage/job-feed.js';
import { matchesFilter, topicsOf } from './event-filter.js';
import type { JobListener } from './job-listener.js';

/**
 * The listeners in this process. Listeners that follow one job are indexed by the job's id, so that an event is not
 * checked against every listener.
 */
export class ListenerSet {
  readonly #all = new Set<JobListener>();
  readonly #byJob = new Map<string, Set<JobListener>>();
  readonly #general = new Set<JobListener>();
  readonly #wanted = new Map<EventTopic, number>();

  get size(): number {
    return this.#all.size;
  }

  /** The topics that at least one listener wants. */
  get topics(): EventTopic[] {
    return [...this.#wanted.keys()];
  }

  add(listener: JobListener): void {
    this.#all.add(listener);
    const { jobId } = listener.filter;
    if (jobId === undefined) this.#general.add(listener);
    else this.#byJob.set(jobId, (this.#byJob.get(jobId) ?? new Set()).add(listener));
    for (const topic of topicsOf(listener.filter))
      this.#wanted.set(topic, (this.#wanted.get(topic) ?? 0) + 1);
  }

  delete(listener: JobListener): void {
    if (!this.#all.delete(listener)) return;
    const { jobId } = listener.filter;
    this.#general.delete(listener);
    const ofJob = jobId === undefined ? undefined : this.#byJob.get(jobId);
    ofJob?.delete(listener);
    if (jobId !== undefined && ofJob?.size === 0) this.#byJob.delete(jobId);
    for (const topic of topicsOf(listener.filter)) {
      const remaining = (this.#wanted.get(topic) ?? 1) - 1;
      if (remaining === 0) this.#wanted.delete(topic);
      else this.#wanted.set(topic, remaining);
    }
  }

  /**
   * Delivers each event to the listeners whose filters match it. Skips listeners that start after the event's time.
   *
   * @param before the resume position for each of a listener's events except the last
   * @param after the resume position for the last of a listener's events
   */
  deliver(events: readonly JobEvent[], before: FeedPosition, after: FeedPosition): void {
    const shares = new Map<JobListener, JobEvent[]>();
    for (const event of events) {
      for (const listener of [...(this.#byJob.get(event.jobId) ?? []), ...this.#general]) {
        if ((listener.from !== null && event.at < listener.from) || !matchesFilter(listener.filter, event))
          continue;
        const share = shares.get(listener);
        if (share === undefined) shares.set(listener, [event]);
        else share.push(event);
      }
    }
    for (const [listener, share] of shares) {
      const last = share.at(-1);
      for (const event of share) listener.receive(event, event === last ? after : before);
    }
  }

  /** Makes every listener without a starting point start at `now`. */
  startFrom(now: Date): void {
    for (const listener of this.#all) listener.from ??= now;
  }

  end(): void {
    for (const listener of this.#all) listener.end();
  }
}
