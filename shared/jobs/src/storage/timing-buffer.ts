import type { Outcome } from '../job/job.js';
import type { Clock } from '../job/clock.js';
import { Timing } from './timings.js';

const minuteMs = 60_000;

/**
 * Maximum number of cells to keep while the storage is unreachable. If there are more, the oldest cells are discarded.
 */
const maxCells = 20_000;

/** The timings of the attempts of one job name, in one queue and one minute. */
export interface TimingCell {
  readonly queue: string;
  readonly name: string;
  /** The start of the minute, in milliseconds since 1970. */
  readonly minute: number;
  readonly timing: Timing;
}

/** Aggregates the timings of attempts by queue, job name and minute until they are stored. */
export class TimingBuffer {
  readonly #clock: Clock;
  #minute = 0;
  #current = new Map<string, Map<string, Timing>>();
  #waiting: TimingCell[] = [];

  /** @param clock the storage's clock */
  constructor(clock: Clock) {
    this.#clock = clock;
  }

  started(queue: string, name: string, waitedMs: number): void {
    this.#timing(queue, name).waiting.add(waitedMs);
  }

  ended(queue: string, name: string, outcome: Outcome['kind'], ranMs: number): void {
    if (outcome === 'snooze') return;
    const timing = this.#timing(queue, name);
    timing.running.add(ranMs);
    if (outcome === 'done') timing.done++;
    else if (outcome === 'failed') timing.failed++;
    else if (outcome === 'retry') timing.retried++;
  }

  /** Removes and returns all cells, including those of the current, incomplete minute. */
  take(): TimingCell[] {
    this.#close();
    return this.#waiting.splice(0);
  }

  /**
   * Puts back cells that could not be stored, so that the next {@link take} returns them again. Drops the oldest cells
   * beyond {@link maxCells}.
   */
  restore(cells: readonly TimingCell[]): void {
    this.#waiting = [...cells, ...this.#waiting].slice(-maxCells);
  }

  #timing(queue: string, name: string): Timing {
    const now = this.#clock.now();
    if (now >= this.#minute + minuteMs || now < this.#minute) {
      this.#close();
      this.#minute = Math.floor(now / minuteMs) * minuteMs;
    }
    let names = this.#current.get(queue);
    if (names === undefined) this.#current.set(queue, (names = new Map<string, Timing>()));
    let timing = names.get(name);
    if (timing === undefined) names.set(name, (timing = new Timing()));
    return timing;
  }

  #close(): void {
    const minute = this.#minute;
    for (const [queue, names] of this.#current)
      for (const [name, timing] of names) this.#waiting.push({ queue, name, minute, timing });
    if (this.#waiting.length > maxCells) this.#waiting = this.#waiting.slice(-maxCells);
    this.#current = new Map<string, Map<string, Timing>>();
  }
}
