import { setTimeout as delay } from 'node:timers/promises';
import type { Clock } from '../../job/clock.js';
import { StepFailedError, StorageClosedError, StorageUnavailableError } from '../../job/errors.js';
import { isA } from '../../job/is-a.js';
import type { Claim, JobError, JsonText, JsonValue } from '../../job/job.js';
import type { NewStep, Step } from '../../job/step.js';
import type { Steps } from '../../storage/steps.js';
import { StepFailures } from './step-failures.js';
import { StoredSteps } from './stored-steps.js';

export interface StepStoreOptions {
  readonly claim: Claim;
  readonly store: Steps;
  readonly clock: Clock;
  /** Aborts when the attempt should end. */
  readonly signal: AbortSignal;
  readonly warn: (message: string) => void;
}

/** Maximum interval between tries to store a step while the storage is unavailable, in milliseconds. */
const maxRetryMs = 5_000;

/** Reads and stores the steps of one attempt. */
export class StepStore {
  readonly #options: StepStoreOptions;
  readonly #failures = new StepFailures();
  #stored: Promise<StoredSteps> | undefined;
  #failuresStored: Promise<void> = Promise.resolve();

  constructor(options: StepStoreOptions) {
    this.#options = options;
  }

  now(): Date {
    return new Date(this.#options.clock.now());
  }

  /** Reads what is stored, once. */
  read(): Promise<StoredSteps> {
    const { claim, store, warn } = this.#options;
    this.#stored ??= store
      .read({ id: claim.jobId, queue: claim.queue })
      .then((history) => new StoredSteps(history, warn));
    return this.#stored;
  }

  /**
   * Resolves when the failures after which the handler has gone on are stored: what follows from a decision must not run
   * before the decision is final.
   */
  async decided(): Promise<void> {
    const failures = this.#failures.take('remembered');
    if (failures.length > 0) {
      const before = this.#failuresStored;
      this.#failuresStored = before.then(() => this.record(...failures));
    }
    await this.#failuresStored;
  }

  /** Stores steps. */
  async record(...steps: readonly NewStep[]): Promise<void> {
    const { store, claim, signal } = this.#options;
    for (let retryMs = 100; ; retryMs = Math.min(2 * retryMs, maxRetryMs)) {
      try {
        await store.record(claim, steps);
        break;
      } catch (error) {
        // The work of the step is done, and without its result it would be done again.
        const isOutage = isA(error, StorageUnavailableError) && !isA(error, StorageClosedError);
        if (!isOutage || signal.aborted) throw error;
        await delay(retryMs);
      }
    }
    await this.stored(...steps);
  }

  /** Called when steps have been stored. */
  async stored(...steps: readonly NewStep[]): Promise<void> {
    const stored = await this.read();
    for (const { result } of steps) stored.addResult(result);
  }

  /** Stores a step with its result. Returns what later attempts get. */
  async done(step: NewStep, result: JsonText, state: 'done' | 'timed-out' = 'done'): Promise<JsonValue> {
    await this.record(this.ended(step, state, result));
    return JSON.parse(result) as JsonValue;
  }

  /** Returns a step as it is stored when it has ended. */
  ended(step: NewStep, state: 'done' | 'timed-out', result: JsonText): NewStep {
    return { ...step, state, result, error: null, finishedAt: this.now() };
  }

  /** Stores a step that has failed for good, and returns the error for the handler. */
  async failed(step: NewStep, error: JobError): Promise<StepFailedError> {
    const failed = { ...step, error, finishedAt: this.now() };
    await this.record(failed);
    return this.#stepFailed(failed, error);
  }

  /** Notes that the handler gets this error of a step. Whether it is remembered depends on what the handler does next. */
  failedFor(step: NewStep, error: JobError, thrown: unknown): void {
    const failed = { ...step, error, state: 'failed', isRemembered: false, finishedAt: this.now() } as const;
    this.#failures.add(failed, thrown, false);
  }

  /**
   * Returns the result of a step that has ended before; `null` if it has not, or is to run again.
   *
   * @throws {StepFailedError} if it has failed
   */
  endOf(stored: Step | null): { readonly value: JsonValue } | null {
    if (stored === null || stored.state === 'waiting' || !stored.isRemembered) return null;
    const { result, ...step } = stored;
    if (step.error === null) return { value: result };
    throw this.#stepFailed({ ...step, result: JSON.stringify(result) }, step.error);
  }

  #stepFailed(step: NewStep, error: JobError): StepFailedError {
    const thrown = new StepFailedError(step.name, error, step.childId);
    this.#failures.add(step, thrown, true);
    return thrown;
  }

  /** Called when the handler goes on after what has failed so far. */
  rememberFailures(): void {
    this.#failures.remember();
  }

  /**
   * Stores what became of failed steps when the handler has ended.
   *
   * @param thrown what the handler threw, if it did
   */
  async end(thrown?: { readonly error: unknown }): Promise<void> {
    if (thrown === undefined) this.#failures.remember();
    else this.#failures.forget(thrown.error);
    const failures = this.#failures.take('all');
    const { store, claim } = this.#options;
    // If they cannot be stored, the next attempt runs these steps again, or ends with the same error.
    if (failures.length > 0) await store.record(claim, failures).catch(() => undefined);
  }
}
