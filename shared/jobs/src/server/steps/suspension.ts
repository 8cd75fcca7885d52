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
  #idle: () => void = () => undefined;

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
   *
   * @param isPartOfStep whether a step does it: while a step is running, it settles, so that the step can end
   */
  async during<Result>(work: () => Promise<Result>, isPartOfStep = false): Promise<Result> {
    const isCutOff = (): boolean => this.#isOver && !(isPartOfStep && this.#active > 0);
    if (isCutOff()) return never();
    this.#active++;
    const [ended] = await Promise.allSettled([work()]);
    this.#active--;
    if (this.#active === 0) this.#idle();
    this.#checkSoon();
    if (isCutOff()) return never();
    if (ended.status === 'rejected') throw ended.reason;
    return ended.value;
  }

  /** Notes that a step waits. */
  wait(wait: Wait): void {
    this.#waits.push(wait);
    this.#checkSoon();
  }

  /** Called when the attempt ends otherwise. Resolves when the work that is still going on has ended. */
  async end(): Promise<void> {
    this.#isOver = true;
    clearImmediate(this.#check);
    if (this.#active > 0) await new Promise<void>((resolve) => (this.#idle = resolve));
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
