import type { JobEvent } from '../job/job-event.js';
import type { FeedPosition } from '../storage/job-feed.js';
import type { EventFilter } from './event-filter.js';

/** An event, with a position from which a listener can resume. */
export interface DeliveredEvent {
  readonly event: JobEvent;
  /** A listener that resumes from this position misses nothing that follows the event. */
  readonly resumeAt: FeedPosition;
}

/** Maximum number of waiting events. If there are more, the consumer is too slow, and the stream ends. */
const maxWaiting = 10_000;

/** Buffers the events for one listener until they are taken. */
export class JobListener {
  readonly filter: EventFilter;
  /**
   * Events before this time are not delivered; `null` means no limit. The feed reader replaces `null` with the current
   * position whenever it starts reading or adds topics.
   */
  from: Date | null = null;
  #waiting: DeliveredEvent[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(filter: EventFilter) {
    this.filter = filter;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  get isDrained(): boolean {
    return this.#waiting.length === 0;
  }

  receive(event: JobEvent, resumeAt: FeedPosition): void {
    if (this.#ended) return;
    this.#waiting.push({ event, resumeAt });
    if (this.#waiting.length > maxWaiting) this.end();
    else this.#wakeUp();
  }

  /** Removes and returns the waiting events. */
  take(): DeliveredEvent[] {
    const received = this.#waiting;
    this.#waiting = [];
    return received;
  }

  /**
   * Stops accepting events. Events that are already waiting can still be taken, unless there are more than
   * {@link maxWaiting}. In that case, drops all of them. The consumer can then resume from the last position that it
   * received.
   */
  end(): void {
    if (this.#waiting.length > maxWaiting) this.#waiting = [];
    this.#ended = true;
    this.#wakeUp();
  }

  /** Resolves when events are waiting or the listener has ended. Supports one caller at a time. */
  async waitForEvents(): Promise<void> {
    if (this.#waiting.length > 0 || this.#ended) return;
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
  }

  #wakeUp(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
