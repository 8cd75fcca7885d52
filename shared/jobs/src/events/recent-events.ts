import { type JobEvent, keyOf } from '../job/job-event.js';

/**
 * How long events are kept once the feed no longer returns them, in milliseconds. If more than {@link maxKept} events
 * are in memory, the oldest are removed sooner.
 */
const keptMs = 60_000;

const maxKept = 20_000;

/**
 * Keeps the events of about the last minute in memory. Used to recognize events that the feed returns again, and to let
 * listeners resume without a query.
 */
export class RecentEvents {
  readonly #events = new Map<string, JobEvent>();
  #from = new Date(0);

  /** All events at or after this time are in memory, except events that are not visible in the storage yet. */
  get from(): Date {
    return this.#from;
  }

  /** Sets {@link from}. The caller must then add all events since that time. Keeps the events already in memory. */
  begin(from: Date): void {
    this.#from = from;
  }

  /** Adds events. Returns the events that were not in memory yet. */
  add(events: readonly JobEvent[]): JobEvent[] {
    return events.filter((event) => {
      const key = keyOf(event);
      if (this.#events.has(key)) return false;
      this.#events.set(key, event);
      return true;
    });
  }

  /** Returns the events at or after `from`, oldest first. */
  since(from: Date): JobEvent[] {
    return [...this.#events.values()]
      .filter(({ at }) => at >= from)
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  }

  /**
   * Removes events more than {@link keptMs} older than `settledBefore`. If more than {@link maxKept} events remain,
   * also removes the oldest ones. Keeps all events that the feed may still return.
   *
   * @param settledBefore the feed returns no more events from before this time
   */
  trim(settledBefore: Date): void {
    const oldest = settledBefore.getTime() - keptMs;
    for (const [key, { at }] of this.#events) {
      const isExpired = at.getTime() < oldest || (this.#events.size > maxKept && at < settledBefore);
      if (!isExpired) break; // events are only roughly in chronological order, so a few stay a little longer
      this.#events.delete(key);
      if (at >= this.#from) this.#from = new Date(at.getTime() + 1);
    }
  }

  clear(): void {
    this.#events.clear();
  }
}
