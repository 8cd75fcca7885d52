import { StepTimeoutError } from '../../job/errors.js';

/** Aborts a signal when a step takes too long, or its attempt should end. */
export class StepTimeLimit {
  readonly signal: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #over: Promise<never>;

  /** @param attempt aborts when the attempt should end */
  constructor(step: string, timeoutMs: number, attempt: AbortSignal) {
    const controller = new AbortController();
    this.signal = AbortSignal.any([attempt, controller.signal]);
    let expire: (error: Error) => void = () => undefined;
    this.#over = new Promise((_, reject) => (expire = reject));
    this.#over.catch(() => undefined); // if nothing waits for it any more
    this.#timer = setTimeout(() => {
      const error = new StepTimeoutError(step, timeoutMs);
      controller.abort(error);
      expire(error);
    }, timeoutMs);
  }

  /** Resolves as the work does, or rejects when the time is up. */
  during<Result>(work: Promise<Result> | Result): Promise<Result> {
    return Promise.race([work, this.#over]);
  }

  cancel(): void {
    clearTimeout(this.#timer);
  }
}
