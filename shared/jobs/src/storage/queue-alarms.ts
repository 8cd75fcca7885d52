/** Timers are not exact to less than this, and whoever looks more often than that looks in vain. */
const minPauseMs = 5;

/** Says when a queue that has given out all it may is worth another look. One alarm a queue; the earlier one goes off. */
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
