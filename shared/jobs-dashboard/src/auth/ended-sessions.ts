const MAX_SESSIONS = 10_000;

/** Remembers sessions that were ended by signing out, because their tokens still have valid signatures. */
export class EndedSessions {
  readonly #now: () => number;
  /** When each session would have expired, by session id; earliest first. */
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
