const MAX_SESSIONS = 10_000;

/** Sessions that somebody has ended before their time: nothing else tells them from others of the same seal. */
export class EndedSessions {
  readonly #now: () => number;
  /** Until when each would have lasted, the first to be forgotten first. */
  readonly #until = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  add(session: string, lifetimeMs: number): void {
    for (const [ended, until] of this.#until) {
      if (until > this.#now() && this.#until.size < MAX_SESSIONS) break;
      this.#until.delete(ended);
    }
    this.#until.set(session, this.#now() + lifetimeMs);
  }

  has(session: string): boolean {
    return this.#until.has(session);
  }
}
