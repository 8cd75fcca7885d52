import { type JobEvent, keyOf } from '../job/job-event.js';

/** How long events are kept, in milliseconds; longer if the feed may still return them. */
const keptMs = 60_000;

const maxKept = 20_000;

/**
 * The events of the last minute. Recognizes events that the feed returns again, and lets listeners resume without a
 * query.
 */
export class RecentEvents {
  readonly #events = new Map<string, JobEvent>();
  #from = new Date(0);

  /** All events at or after this time are in memory, except those that are not visible yet. */
  get from(): Date {
    return this.#from;
  }

  /** Sets the time from which the events in memory are complete. Events already in memory stay. */
  begin(from: Date): void {
    this.#from = from;
  }

  /** Adds events. Returns those that are new. */
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
   * Removes the events that are no longer kept.
   *
   * @param settled the feed returns no more events before this time
   */
  trim(settled: Date): void {
    const oldest = settled.getTime() - keptMs;
    for (const [key, { at }] of this.#events) {
      const isExpired = at.getTime() < oldest || (this.#events.size > maxKept && at < settled);
      if (!isExpired) break; // order is only roughly by time, so a few events stay a little longer
      this.#events.delete(key);
      if (at >= this.#from) this.#from = new Date(at.getTime() + 1);
    }
  }

  clear(): void {
    this.#events.clear();
  }
}
