import type { SuspendOutcome } from '../../job/job.js';

/** What one step waits for. */
export interface Wait {
  readonly until: Date;
  /** The name of the signal, and how many of it are needed; `null` for a time only. */
  readonly signal: { readonly name: string; readonly needed: number } | null;
  /** The job that is cancelled with this one; `null` for none. */
  readonly cancels: string | null;
}

/** Settles never. What waits for it is collected together with it. */
export function never(): Promise<never> {
  return new Promise(() => undefined);
}

/**
 * Notices when an attempt has nothing left to do but to wait: when none of its steps is running, reading or being stored,
 * and one waits. The attempt is over then, and none of its promises settles any more.
 */
export class Suspension {
  readonly #suspend: (outcome: SuspendOutcome) => void;
  readonly #waits: Wait[] = [];
  #active = 0;
  #isOver = false;
  #check: NodeJS.Immediate | undefined;

  /** @param suspend called once, when only waits are left */
  constructor(suspend: (outcome: SuspendOutcome) => void) {
    this.#suspend = suspend;
  }

  /** Whether the attempt is suspended or has ended. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /**
   * Does some work, and keeps the attempt from being suspended meanwhile. If the attempt is over, before or after the work,
   * the promise never settles.
   */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) return never();
    this.#active++;
    try {
      const result = await work();
      return this.#isOver ? await never() : result;
    } catch (error) {
      if (this.#isOver) return await never();
      throw error;
    } finally {
      this.#active--;
      this.#checkSoon();
    }
  }

  /** Notes that a step waits. */
  wait(wait: Wait): void {
    this.#waits.push(wait);
    this.#checkSoon();
  }

  /** Called when the attempt ends otherwise. */
  end(): void {
    this.#isOver = true;
    clearImmediate(this.#check);
  }

  /** After the code that follows what has ended just now, which may go on with another step. */
  #checkSoon(): void {
    if (this.#waits.length === 0 || this.#active > 0 || this.#isOver) return;
    clearImmediate(this.#check);
    this.#check = setImmediate(() => {
      if (this.#active > 0 || this.#isOver) return;
      this.#isOver = true;
      const until = Math.min(...this.#waits.map((wait) => wait.until.getTime()));
      const signals = this.#waits.flatMap(({ signal }) => (signal === null ? [] : [signal]));
      const awaits = Object.fromEntries(signals.map(({ name, needed }) => [name, needed]));
      const cancels = this.#waits.flatMap((wait) => wait.cancels ?? []);
      this.#suspend({ kind: 'suspend', until: new Date(until), awaits, cancels });
    });
  }
}
