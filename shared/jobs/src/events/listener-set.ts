import type { EventTopic, JobEvent } from '../job/job-event.js';
import { admits, topicsWanted } from './event-filter.js';
import type { JobListener } from './job-listener.js';

/** All who listen in this process. An event finds the listeners of its job without asking the others. */
export class ListenerSet {
  readonly #all = new Set<JobListener>();
  readonly #byJob = new Map<string, Set<JobListener>>();
  readonly #general = new Set<JobListener>();
  readonly #wanted = new Map<EventTopic, number>();

  get size(): number {
    return this.#all.size;
  }

  /** That any of them wants to hear of. */
  get topics(): EventTopic[] {
    return [...this.#wanted.keys()];
  }

  add(listener: JobListener): void {
    this.#all.add(listener);
    const { jobId } = listener.filter;
    if (jobId === undefined) this.#general.add(listener);
    else this.#byJob.set(jobId, (this.#byJob.get(jobId) ?? new Set()).add(listener));
    for (const topic of topicsWanted(listener.filter))
      this.#wanted.set(topic, (this.#wanted.get(topic) ?? 0) + 1);
  }

  delete(listener: JobListener): void {
    if (!this.#all.delete(listener)) return;
    const { jobId } = listener.filter;
    this.#general.delete(listener);
    const ofJob = jobId === undefined ? undefined : this.#byJob.get(jobId);
    ofJob?.delete(listener);
    if (jobId !== undefined && ofJob?.size === 0) this.#byJob.delete(jobId);
    for (const topic of topicsWanted(listener.filter)) {
      const others = (this.#wanted.get(topic) ?? 1) - 1;
      if (others === 0) this.#wanted.delete(topic);
      else this.#wanted.set(topic, others);
    }
  }

  /**
   * Tells each listener what it wants to hear.
   *
   * @param before where to go on for one who has not heard all of these yet
   * @param after for one who has
   */
  tell(events: readonly JobEvent[], before: Date, after: Date): void {
    const shares = new Map<JobListener, JobEvent[]>();
    for (const event of events) {
      for (const listener of [...(this.#byJob.get(event.jobId) ?? []), ...this.#general]) {
        if ((listener.from !== null && event.at < listener.from) || !admits(listener.filter, event)) continue;
        const share = shares.get(listener);
        if (share === undefined) shares.set(listener, [event]);
        else share.push(event);
      }
    }
    for (const [listener, share] of shares) {
      const last = share.at(-1);
      for (const event of share) listener.hear(event, event === last ? after : before);
    }
  }

  /** For those that came before there was anything to hear. */
  hearFrom(now: Date): void {
    for (const listener of this.#all) listener.from ??= now;
  }

  end(): void {
    for (const listener of this.#all) listener.end();
  }
}
