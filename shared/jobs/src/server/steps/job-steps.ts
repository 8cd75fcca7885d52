import type { JobClient } from '../../client/job-client.js';
import { isBoolean, isInteger, isString } from '../../job/argument-check.js';
import { toJsonText } from '../../job/arguments.js';
import { bounds, checkDelay, checkInteger, checkText, checkTime } from '../../job/bounds.js';
import type { Clock } from '../../job/clock.js';
import { checkDefinition, type JobDefinition } from '../../job/definition.js';
import { CancelJob, ClaimLostError, SnoozeJob, StepFailedError } from '../../job/errors.js';
import { toJobError } from '../../job/failure.js';
import { fingerprintOf } from '../../job/fingerprint.js';
import { isA } from '../../job/is-a.js';
import type { Claim, JsonText, JsonValue, SuspendOutcome } from '../../job/job.js';
import { checkOptions, type OptionNames } from '../../job/options.js';
import { delayBefore, isRetryable, type RetryDelay, type RetryRules, toRetryDelay } from '../../job/retry.js';
import { shown } from '../../job/shown.js';
import { type JobEnd, type NewStep, signalOf, type Step, type StepKind } from '../../job/step.js';
import type { Steps } from '../../storage/steps.js';
import { requestedOptions, type RequestedOptions } from '../../client/enqueue-options.js';
import type {
  EnqueueAndWait,
  RunningStep,
  RunStep,
  SleepTime,
  StepContext,
  StepOptions,
  TransactionalStep,
  WaitForJobOptions,
  WaitForSignal,
  WaitOptions,
} from './step-context.js';
import { StepFailures } from './step-failures.js';
import { StepTimeLimit } from './step-time-limit.js';
import { StoredSteps } from './stored-steps.js';
import { never, Suspension } from './suspension.js';

/** What the steps of one attempt need. */
export interface JobStepsOptions {
  readonly claim: Claim;
  readonly store: Steps;
  readonly clock: Clock;
  readonly client: JobClient;
  readonly retryRules: RetryRules;
  /** Serializes the result of a step. Throws if it is not JSON or too large. */
  readonly toResult: (value: unknown) => JsonText;
  /** Aborts when the attempt should end. */
  readonly signal: AbortSignal;
  /** Aborts when the server has given up on the attempt. */
  readonly abandoned: AbortSignal;
  readonly warn: (message: string) => void;
  /** Ends the attempt, because it has nothing left to do but to wait. */
  readonly suspend: (outcome: SuspendOutcome) => void;
}

const stepOptions: OptionNames<StepOptions> = {
  maxAttempts: isInteger(bounds.maxAttempts),
  retryDelay: true,
  timeoutMs: isInteger(bounds.timeoutMs),
  transaction: isBoolean,
  input: true,
};
const sleepTime: OptionNames<SleepTime> = { ms: true, until: true };
const waitOptions: OptionNames<WaitOptions & { readonly all: number }> = {
  timeoutMs: true,
  all: isInteger(bounds.awaitedSignals),
};
const { unique: _u, idempotencyKey: _i, includeHolder: _h, ...jobOptions } = requestedOptions;
const waitForJobOptions: OptionNames<WaitForJobOptions> = {
  ...jobOptions,
  step: isString,
  cancelWithJob: isBoolean,
};

/** The result of a step that waits: its promise does not settle in this attempt. */
const waiting = Symbol('waiting');

/** Runs the steps of one attempt. */
export class JobSteps implements StepContext {
  readonly #options: JobStepsOptions;
  readonly #names = new Set<string>();
  readonly #failures = new StepFailures();
  readonly #suspension: Suspension;
  #stored: Promise<StoredSteps> | undefined;

  constructor(options: JobStepsOptions) {
    this.#options = options;
    this.#suspension = new Suspension((outcome) => {
      this.#failures.remember();
      const suspend = (): void => options.suspend(outcome);
      this.#record([]).then(suspend, (error: unknown) => {
        if (!isA(error, ClaimLostError)) suspend(); // they fail again in the next attempt
      });
    });
  }

  /** Keeps the attempt from being suspended until the promise settles. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#suspension.during(work);
  }

  /**
   * Stores the failures of steps that have not been stored yet. Must be called when the handler has ended.
   *
   * @param thrown what the handler threw, if it did
   */
  async end(thrown?: { readonly error: unknown }): Promise<void> {
    this.#suspension.end();
    if (thrown === undefined) this.#failures.remember();
    else this.#failures.forget(thrown.error);
    const failures = this.#failures.take('all');
    // Without them, the next attempt runs the steps again, or ends with the same error.
    if (failures.length > 0)
      await this.#options.store.record(this.#options.claim, failures).catch(() => undefined);
  }

  readonly step: RunStep = Object.assign(
    async (name: string, work: (context: never) => unknown, options: StepOptions = {}): Promise<never> => {
      if (typeof work !== 'function')
        throw new TypeError(`step: the work of "${name}" must be a function, not ${shown(work)}`);
      checkOptions('step', options, stepOptions);
      const retryDelay = options.retryDelay === undefined ? undefined : toRetryDelay(options.retryDelay);
      const input = options.input === undefined ? null : fingerprintOf(toJsonText(options.input, 'input'));
      return this.#run('step', name, async (steps, stored) => {
        this.#checkInput(stored, input);
        const ended = this.#endOf(stored);
        if (ended !== null) return ended.value;
        const attempts = stored === null || !stored.isRemembered ? 1 : stored.attempts + 1;
        const step = { ...steps.start(stored, { name, kind: 'step', now: this.#now() }), attempts, input };
        return this.#attempt(step, work as Work, options, retryDelay);
      });
    },
    {
      version: (name: string, current: number): Promise<number> =>
        this.#run('version', name, async (steps, stored) => {
          checkInteger('step.version', current, bounds.version);
          if (stored !== null) return stored.result;
          const version = steps.hasUnused ? 1 : current;
          return this.#done(steps.start(null, { name, kind: 'version', now: this.#now() }), String(version));
        }),
    },
  );

  readonly sleep = async (name: string, time: SleepTime): Promise<void> => {
    checkOptions('sleep', time, sleepTime);
    if ((time.ms === undefined) === (time.until === undefined))
      throw new RangeError(`sleep: give { ms } or { until } for "${name}"`);
    const until =
      time.until === undefined
        ? this.#after(checkDelay('sleep: ms', time.ms))
        : checkTime('sleep: until', time.until);
    await this.#run('sleep', name, async (steps, stored) => {
      if (stored !== null && stored.state !== 'waiting') return null;
      const step = { ...steps.start(stored, { name, kind: 'sleep', now: this.#now() }) };
      const end = stored?.until ?? until;
      if (end.getTime() <= this.#options.clock.now()) return this.#done({ ...step, until: end }, 'null');
      return this.#wait({ ...step, until: end }, stored);
    });
  };

  readonly waitFor: WaitForSignal = async (
    name: string,
    options: WaitOptions & { readonly all?: number } = {},
  ): Promise<never> => {
    checkOptions('waitFor', options, waitOptions);
    const until = this.#waitUntil(options.timeoutMs);
    const { all } = options;
    return this.#run('wait', name, async (steps, stored) => {
      const ended = this.#endOf(stored);
      if (ended !== null) return ended.value;
      const step = {
        ...steps.start(stored, { name, kind: 'wait', now: this.#now() }),
        until: stored?.until ?? until,
        signals: all ?? 1,
      };
      const data = steps
        .signals(name)
        .slice(0, step.signals)
        .map((signal) => signal.data);
      if (data.length === step.signals)
        return this.#done(step, toJsonText(all === undefined ? data[0] : data, 'data'));
      if (step.until.getTime() > this.#options.clock.now()) return this.#wait(step, stored);
      return this.#timedOut(step, toJsonText(all === undefined ? null : data, 'data'));
    });
  };

  readonly enqueueAndWait: EnqueueAndWait = async (
    definition: JobDefinition,
    args?: unknown,
    options: WaitForJobOptions = {},
  ): Promise<never> => {
    checkDefinition('enqueueAndWait', definition);
    checkOptions('enqueueAndWait', options, waitForJobOptions);
    const { step: name = definition.name, cancelWithJob = false, timeoutMs, ...requested } = options;
    const until = this.#waitUntil(timeoutMs);
    return this.#run('job', name, async (steps, stored) => {
      const ended = this.#endOf(stored);
      if (ended !== null) return ended.value;
      const started = steps.start(stored, { name, kind: 'job', now: this.#now() });
      const childId = stored?.childId ?? (await this.#enqueueChild(name, definition, args, requested));
      const step = { ...started, childId, until: stored?.until ?? until, signals: 1 };
      const [signal] = steps.signals(signalOf(step) ?? '');
      if (signal === undefined) {
        if (step.until.getTime() > this.#options.clock.now()) return this.#wait(step, stored, cancelWithJob);
        const message = `The job ${childId} has not ended in time`;
        return this.#failed(
          { ...step, state: 'timed-out' },
          { name: 'WaitTimeoutError', message, stack: null },
        );
      }
      const { state, result, error } = signal.data as unknown as JobEnd;
      if (state === 'done') return this.#done(step, toJsonText(result, 'result'));
      const message = `The job ${childId} ${state === 'failed' ? 'failed' : 'was cancelled'}`;
      return this.#failed(step, error ?? { name: 'JobCancelled', message, stack: null });
    });
  };

  /** Runs one step, unless the attempt is over. */
  async #run(
    kind: StepKind,
    name: string,
    run: (steps: StoredSteps, stored: Step | null) => Promise<unknown>,
  ): Promise<never> {
    checkText('The name of a step', name, bounds.keyLength);
    if (this.#suspension.isOver) return never();
    if (this.#names.has(name))
      throw new TypeError(
        `There are two steps "${name}" in this run of the handler: give each its own name, such as "${name}:1" and "${name}:2"`,
      );
    this.#names.add(name);
    this.#failures.remember();
    const result = await this.#suspension.during(async () => {
      const steps = await this.#read();
      return run(steps, steps.use(name, kind));
    });
    return result === waiting ? never() : (result as never);
  }

  #read(): Promise<StoredSteps> {
    const { claim, store, warn } = this.#options;
    this.#stored ??= store
      .read({ id: claim.jobId, queue: claim.queue })
      .then((history) => new StoredSteps(history, warn));
    return this.#stored;
  }

  /** Returns the result of a step that has ended before; `null` if it has not, or is to run again. */
  #endOf(stored: Step | null): { readonly value: JsonValue } | null {
    if (stored === null || stored.state === 'waiting' || !stored.isRemembered) return null;
    if (stored.error === null) return { value: stored.result };
    throw this.#stepFailed(toNewStep(stored), stored.error, true);
  }

  async #attempt(
    step: NewStep,
    work: Work,
    { maxAttempts = 1, timeoutMs, transaction = false }: StepOptions,
    retryDelay: RetryDelay | undefined,
  ): Promise<unknown> {
    const { signal, retryRules } = this.#options;
    const limit = timeoutMs === undefined ? null : new StepTimeLimit(step.name, timeoutMs, signal);
    try {
      const context = { attempt: step.attempts, signal: limit?.signal ?? signal };
      return await (transaction
        ? this.#inTransaction(step, work, context, limit)
        : this.#done(
            step,
            this.#options.toResult(await (limit === null ? work(context) : limit.during(work(context)))),
          ));
    } catch (error) {
      const isOfAttempt =
        signal.aborted || isA(error, ClaimLostError) || isA(error, CancelJob) || isA(error, SnoozeJob);
      if (isOfAttempt) throw error;
      const failed = { ...step, error: toJobError(error) };
      if (step.attempts >= maxAttempts || !isRetryable(error, retryRules)) {
        this.#failures.add(
          { ...failed, state: 'failed', isRemembered: false, finishedAt: this.#now() },
          error,
          false,
        );
        throw error;
      }
      return this.#wait(
        { ...failed, until: this.#after(delayBefore(step.attempts, error, retryDelay)) },
        null,
      );
    } finally {
      limit?.cancel();
    }
  }

  async #inTransaction(
    step: NewStep,
    work: Work,
    context: RunningStep,
    limit: StepTimeLimit | null,
  ): Promise<JsonValue> {
    const { store, claim, client, toResult, abandoned } = this.#options;
    let result: JsonText = 'null';
    await store.recordInTransaction(
      claim,
      async (transaction) => {
        const bound = client.boundTo(() => ({ transaction, enqueuedBy: claim.jobId }));
        const running = work({ ...context, ...bound, client: transaction });
        const value = await (limit === null ? running : limit.during(running));
        result = toResult(value);
        return this.#ended(step, 'done', result);
      },
      abandoned,
    );
    return JSON.parse(result) as JsonValue;
  }

  async #enqueueChild(
    step: string,
    definition: JobDefinition,
    args: unknown,
    options: RequestedOptions,
  ): Promise<string> {
    const { client, claim } = this.#options;
    // If the attempt is cut off before the id is stored, the next one gets the same job by this key.
    const idempotencyKey = `step:${claim.jobId}:${fingerprintOf(JSON.stringify(step))}`;
    const bound = client.boundTo(() => ({ enqueuedBy: claim.jobId, resumes: claim.jobId }));
    const { id } = await bound.enqueue(definition, args, { ...options, idempotencyKey });
    return id;
  }

  /** Stores a step with its result, and returns what later attempts get. */
  async #done(step: NewStep, result: JsonText): Promise<JsonValue> {
    await this.#record([this.#ended(step, 'done', result)]);
    return JSON.parse(result) as JsonValue;
  }

  async #timedOut(step: NewStep, result: JsonText): Promise<JsonValue> {
    await this.#record([this.#ended(step, 'timed-out', result)]);
    return JSON.parse(result) as JsonValue;
  }

  /** Stores a step that waited for a job that has not ended well. */
  async #failed(step: NewStep, error: NonNullable<NewStep['error']>): Promise<never> {
    const state = step.state === 'timed-out' ? 'timed-out' : 'failed';
    const failed = { ...this.#ended(step, state, 'null'), error };
    await this.#record([failed]);
    throw this.#stepFailed(failed, error, true);
  }

  /** Returns the error of a step that has failed for good, and notes that the handler gets it. */
  #stepFailed(step: NewStep, error: NonNullable<NewStep['error']>, isStored: boolean): StepFailedError {
    const thrown = new StepFailedError(step.name, error, step.childId);
    this.#failures.add(step, thrown, isStored);
    return thrown;
  }

  /** Has a step wait. Stores it unless it is stored as it is. */
  async #wait(step: NewStep, stored: Step | null, cancels = false): Promise<typeof waiting> {
    if (stored === null) await this.#record([step]);
    const signal = signalOf(step);
    this.#suspension.wait({
      until: step.until ?? this.#now(),
      signal: signal === null ? null : { name: signal, needed: step.signals ?? 1 },
      cancels: cancels ? step.childId : null,
    });
    return waiting;
  }

  async #record(steps: readonly NewStep[]): Promise<void> {
    const all = [...this.#failures.take('remembered'), ...steps];
    if (all.length > 0) await this.#options.store.record(this.#options.claim, all);
  }

  #ended(step: NewStep, state: 'done' | 'failed' | 'timed-out', result: JsonText): NewStep {
    return { ...step, state, result, error: null, finishedAt: this.#now() };
  }

  #checkInput(stored: Step | null, input: string | null): void {
    if (stored === null || stored.input === null || input === null || stored.input === input) return;
    this.#options.warn(
      `The input of the step "${stored.name}" is not the one with which it ran first; it keeps its result`,
    );
  }

  #waitUntil(timeoutMs: number | undefined): Date {
    return this.#after(timeoutMs === undefined ? bounds.delayMs.max : checkDelay('timeoutMs', timeoutMs));
  }

  #after(ms: number): Date {
    return new Date(this.#options.clock.now() + ms);
  }

  #now(): Date {
    return new Date(this.#options.clock.now());
  }
}

type Work = (context: RunningStep | TransactionalStep) => unknown;

function toNewStep({ result, ...step }: Step): NewStep {
  return { ...step, result: JSON.stringify(result) };
}
