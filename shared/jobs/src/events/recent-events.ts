import { type JobEvent, keyOf } from '../job/job-event.js';

/** Older ones are kept only while they may come again. */
const keptMs = 60_000;

const mostKept = 20_000;

/** The events of the last minute: by them those that come again are known, and listeners resume without a query. */
export class RecentEvents {
  readonly #events = new Map<string, JobEvent>();
  #from = new Date(0);

  /** Everything that happened since then, as far as it has come to light, is here. */
  get from(): Date {
    return this.#from;
  }

  /** Begins anew at this time. What is here already stays known. */
  begin(from: Date): void {
    this.#from = from;
  }

  /** Takes events in; returns those that are new. */
  add(events: readonly JobEvent[]): JobEvent[] {
    return events.filter((event) => {
      const key = keyOf(event);
      if (this.#events.has(key)) return false;
      this.#events.set(key, event);
      return true;
    });
  }

  /** Oldest first. */
  since(from: Date): JobEvent[] {
    return [...this.#events.values()]
      .filter(({ at }) => at >= from)
      .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  }

  /** @param settled what is older comes no more */
  trim(settled: Date): void {
    const oldest = settled.getTime() - keptMs;
    for (const [key, { at }] of this.#events) {
      const isOver = at.getTime() < oldest || (this.#events.size > mostKept && at < settled);
      if (!isOver) break; // nearly in the order of time: what stands behind a younger one stays a little longer
      this.#events.delete(key);
      if (at >= this.#from) this.#from = new Date(at.getTime() + 1);
    }
  }

  clear(): void {
    this.#events.clear();
  }
}
