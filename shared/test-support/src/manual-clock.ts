interface Waiter {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** A clock that moves only when a test advances it. */
export class ManualClock {
  #nowMs: number;
  #waiters: Waiter[] = [];

  constructor(start: Date = new Date('2026-01-01T00:00:00Z')) {
    this.#nowMs = start.getTime();
  }

  /** Returns milliseconds since 1970, as `Date.now()` does. */
  readonly now = (): number => this.#nowMs;

  /** Resolves when the clock has advanced by `ms` milliseconds. */
  readonly wait = (ms: number): Promise<void> =>
    new Promise((wake) => {
      this.#waiters.push({ dueMs: this.#nowMs + ms, wake });
    });

  /** Moves the clock forward and resolves the waits that are due, earliest first. */
  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#waiters.filter(({ dueMs }) => dueMs <= this.#nowMs);
    this.#waiters = this.#waiters.filter(({ dueMs }) => dueMs > this.#nowMs);
    for (const { wake } of due.toSorted((a, b) => a.dueMs - b.dueMs)) wake();
  }
}
