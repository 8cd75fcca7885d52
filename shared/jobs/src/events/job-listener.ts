import type { JobEvent } from '../job/job-event.js';
import type { EventFilter } from './event-filter.js';

/** An event with the place from where to go on after it. */
export interface HeardEvent {
  readonly event: JobEvent;
  /** Whoever listens again from here misses nothing that follows. */
  readonly resumeAt: Date;
}

/** A listener that has so many events before it does not keep up. */
const mostWaiting = 10_000;

/** One who listens: events wait here until they are asked for. */
export class JobListener {
  readonly filter: EventFilter;
  /** Earlier events are of no interest; `null`: those from before the feed is first read. */
  from: Date | null = null;
  #waiting: HeardEvent[] = [];
  #ended = false;
  #wake: (() => void) | undefined;

  constructor(filter: EventFilter) {
    this.filter = filter;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  get hasHeardAll(): boolean {
    return this.#waiting.length === 0;
  }

  hear(event: JobEvent, resumeAt: Date): void {
    if (this.#ended) return;
    this.#waiting.push({ event, resumeAt });
    if (this.#waiting.length > mostWaiting) this.end();
    else this.#wakeUp();
  }

  /** What has come since the last call. */
  take(): HeardEvent[] {
    const heard = this.#waiting;
    this.#waiting = [];
    return heard;
  }

  /** Nothing more comes. A listener that did not keep up loses what waits, and has to listen again from where it was. */
  end(): void {
    if (this.#waiting.length > mostWaiting) this.#waiting = [];
    this.#ended = true;
    this.#wakeUp();
  }

  /** Resolves when something has come or nothing more will. For one caller at a time. */
  async news(): Promise<void> {
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
