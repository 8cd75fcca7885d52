/** Minimum delay in milliseconds; timers are not more precise than this. */
const minPauseMs = 5;

/**
 * Schedules another poll of a queue whose rate limit is exhausted. Keeps one timer per queue, for the earliest time.
 */
export class QueueAlarms {
  readonly #ring: (queue: string) => void;
  readonly #alarms = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();

  constructor(ring: (queue: string) => void) {
    this.#ring = ring;
  }

  set(queue: string, afterMs: number): void {
    const pauseMs = Math.max(minPauseMs, Math.ceil(afterMs));
    const at = performance.now() + pauseMs;
    const earlier = this.#alarms.get(queue);
    if (earlier !== undefined && earlier.at <= at) return;
    clearTimeout(earlier?.timer);
    const timer = setTimeout(() => {
      this.#alarms.delete(queue);
      this.#ring(queue);
    }, pauseMs).unref();
    this.#alarms.set(queue, { at, timer });
  }

  close(): void {
    for (const { timer } of this.#alarms.values()) clearTimeout(timer);
    this.#alarms.clear();
  }
}
