import { type JobEvent, keyOf } from '../job/job-event.js';

/**
 * How long events are kept once the feed no longer returns them, in milliseconds. If there are more than {@link maxKept},
 * the oldest are removed sooner.
 */
const keptMs = 60_000;

const maxKept = 20_000;

/** Maximum number of events that are recognized when the feed returns them again. */
const maxRecognized = 250_000;

/**
 * Keeps the events of about the last minute in memory. Used to recognize events that the feed returns again, and to let
 * listeners resume without a query.
 */
export class RecentEvents {
  /** The events by their keys, roughly in the order of their times. */
  readonly #events = new Map<string, JobEvent>();
  /** The keys of events that are no longer kept, but may be returned again: the oldest unsettled ones. */
  readonly #recognized = new Map<string, Date>();
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
      if (this.#events.has(key) || this.#recognized.has(key)) return false;
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
   * Removes events more than {@link keptMs} older than `settledBefore`, and the oldest ones beyond {@link maxKept}. Events
   * that the feed may still return are recognized after that, up to {@link maxRecognized} of them: a transaction that stays
   * open for hours must not use up the memory.
   *
   * @param settledBefore the feed returns no more events from before this time
   */
  trim(settledBefore: Date): void {
    const oldest = settledBefore.getTime() - keptMs;
    for (const [key, { at }] of this.#events) {
      // Events are only roughly in chronological order, so a few stay a little longer.
      if (at.getTime() >= oldest && this.#events.size <= maxKept) break;
      this.#events.delete(key);
      if (at >= settledBefore) this.#recognized.set(key, at);
      if (at >= this.#from) this.#from = new Date(at.getTime() + 1);
    }
    for (const [key, at] of this.#recognized) {
      if (at >= settledBefore && this.#recognized.size <= maxRecognized) break;
      this.#recognized.delete(key);
    }
  }

  clear(): void {
    this.#events.clear();
    this.#recognized.clear();
  }
}
