/** Minimum delay in milliseconds. Timers are not precise enough for shorter delays. */
const minPauseMs = 5;

/**
 * Schedules notifications for queues whose rate limit is exhausted, so that servers poll these queues again as soon as
 * the limit allows. Each queue has at most one timer. The timer fires at the earliest requested time.
 */
export class QueuePollTimers {
  readonly #notify: (queue: string) => void;
  readonly #timers = new Map<string, { readonly at: number; readonly timer: NodeJS.Timeout }>();

  constructor(notify: (queue: string) => void) {
    this.#notify = notify;
  }

  set(queue: string, afterMs: number): void {
    const pauseMs = Math.max(minPauseMs, Math.ceil(afterMs));
    const at = performance.now() + pauseMs;
    const earlier = this.#timers.get(queue);
    if (earlier !== undefined && earlier.at <= at) return;
    clearTimeout(earlier?.timer);
    const timer = setTimeout(() => {
      this.#timers.delete(queue);
      this.#notify(queue);
    }, pauseMs).unref();
    this.#timers.set(queue, { at, timer });
  }

  close(): void {
    for (const { timer } of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
