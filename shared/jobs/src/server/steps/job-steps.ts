import { setTimeout as delay } from 'node:timers/promises';
import { requestedOptions, type RequestedOptions } from '../../client/enqueue-options.js';
import { isBoolean, isInteger, isString } from '../../job/argument-check.js';
import { toJsonText } from '../../job/arguments.js';
import { bounds, checkDelay, checkInteger, checkText, checkTime } from '../../job/bounds.js';
import { checkDefinition, type JobDefinition } from '../../job/definition.js';
import { ClaimLostError } from '../../job/errors.js';
import { fingerprintOf } from '../../job/fingerprint.js';
import { IdSource } from '../../job/id.js';
import { isA } from '../../job/is-a.js';
import type { SuspendOutcome } from '../../job/job.js';
import { checkOptions, type OptionNames } from '../../job/options.js';
import { toRetryDelay } from '../../job/retry.js';
import { shown } from '../../job/shown.js';
import { type JobEnd, type NewStep, signalOf, type Step, type StepKind } from '../../job/step.js';
import type { JobReader } from '../../storage/job-reader.js';
import type {
  EnqueueAndWait,
  RunStep,
  SleepTime,
  StepContext,
  StepOptions,
  WaitForJobOptions,
  WaitForSignal,
  WaitOptions,
} from './step-context.js';
import { StepStore, type StepStoreOptions } from './step-store.js';
import { shortMs, stepAround, StepWork, type StepWorkOptions, type Work } from './step-work.js';
import type { StoredSteps } from './stored-steps.js';
import { never, Suspension } from './suspension.js';

/** What the steps of one attempt need. */
export interface JobStepsOptions extends StepStoreOptions, StepWorkOptions {
  readonly jobs: JobReader;
  /** Whether the work of the handler's `transaction` is running. */
  readonly isInTransaction: () => boolean;
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
  /** The names of the steps of the kind `step` that are running. */
  readonly #running = new Set<string>();
  readonly #steps: StepStore;
  readonly #suspension: Suspension;
  #isSuspended = false;
  #hasWarned = false;

  constructor(options: JobStepsOptions) {
    this.#options = options;
    this.#steps = new StepStore(options);
    this.#suspension = new Suspension((outcome) => {
      this.#isSuspended = true;
      this.#steps.rememberFailures();
      const suspend = (): void => options.suspend(outcome);
      this.#steps.decided().then(suspend, (error: unknown) => {
        if (!isA(error, ClaimLostError)) suspend(); // the steps that have failed run again
      });
    });
  }

  /** Keeps the attempt from being suspended during some work. If it is suspended already, the promise never settles. */
  during<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#suspension.during(work, stepAround(this.#steps) !== null);
  }

  /**
   * Waits for the steps that are still running, and stores what became of failed ones. Must be called when the handler has
   * ended.
   *
   * @param thrown what the handler threw, if it did
   */
  async end(thrown?: { readonly error: unknown }): Promise<void> {
    const [left] = this.#running;
    if (thrown === undefined && left !== undefined)
      this.#options.warn(
        `The handler returned while its step "${left}" was still running, and the job ends after the step. The handler does not get the result or the error of the step: await it`,
      );
    await this.#suspension.end();
    await this.#steps.end(thrown);
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
        const ended = this.#steps.endOf(stored);
        if (ended !== null) return ended.value;
        const started = { ...steps.start(stored, { name, kind: 'step', now: this.#steps.now() }), input };
        if (stored?.state === 'waiting' && this.#leftMs(stored.until) > shortMs)
          return this.#wait({ ...started, attempts: stored.attempts }, stored);
        const attempts = stored?.state === 'waiting' ? stored.attempts + 1 : 1;
        const run = new StepWork(this.#options, this.#steps, work as Work, options, retryDelay);
        const result = await run.run({ ...started, attempts, until: null });
        return 'value' in result ? result.value : this.#wait(result.waiting, null);
      });
    },
    {
      version: (name: string, current: number): Promise<number> =>
        this.#run('version', name, async (steps, stored) => {
          checkInteger('step.version', current, bounds.version);
          if (stored !== null) return stored.result;
          const version = steps.hasUnused ? 1 : current;
          const step = steps.start(null, { name, kind: 'version', now: this.#steps.now() });
          return this.#steps.done(step, String(version));
        }),
    },
  );

  readonly sleep = async (name: string, time: SleepTime): Promise<void> => {
    checkOptions('sleep', time, sleepTime);
    if ((time.ms === undefined) === (time.until === undefined))
      throw new RangeError(`sleep: give { ms } or { until } for "${name}"`);
    const first =
      time.until === undefined
        ? this.#after(checkDelay('sleep: ms', time.ms))
        : checkTime('sleep: until', time.until);
    await this.#run('sleep', name, async (steps, stored) => {
      if (stored !== null && stored.state !== 'waiting') return null;
      const until = stored?.until ?? first;
      const step = { ...steps.start(stored, { name, kind: 'sleep', now: this.#steps.now() }), until };
      const leftMs = this.#leftMs(until);
      if (leftMs > shortMs) return this.#wait(step, stored);
      if (leftMs > 0) await delay(leftMs);
      return this.#steps.done(step, 'null');
    });
  };

  readonly waitFor: WaitForSignal = async (
    name: string,
    options: WaitOptions & { readonly all?: number } = {},
  ): Promise<never> => {
    checkOptions('waitFor', options, waitOptions);
    const first = this.#waitUntil(options.timeoutMs);
    const { all } = options;
    return this.#run('wait', name, async (steps, stored) => {
      const ended = this.#steps.endOf(stored);
      if (ended !== null) return ended.value;
      const until = stored?.until ?? first;
      const started = steps.start(stored, { name, kind: 'wait', now: this.#steps.now() });
      const step = { ...started, until, signals: all ?? 1 };
      const data = steps
        .signals(name)
        .slice(0, step.signals)
        .map((signal) => signal.data);
      const result = toJsonText(all === undefined ? (data[0] ?? null) : data, 'data');
      if (data.length === step.signals) return this.#steps.done(step, result);
      return this.#leftMs(until) > 0 ? this.#wait(step, stored) : this.#steps.done(step, result, 'timed-out');
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
    const first = this.#waitUntil(timeoutMs);
    return this.#run('job', name, async (steps, stored) => {
      const ended = this.#steps.endOf(stored);
      if (ended !== null) return ended.value;
      const known = stored?.state === 'waiting' ? stored : null;
      const until = known?.until ?? first;
      const childId = known?.childId ?? new IdSource(this.#options.clock).newId();
      const started = steps.start(stored, { name, kind: 'job', now: this.#steps.now() });
      const step = { ...started, childId, until, signals: 1 };
      const [signal] = steps.signals(signalOf(step) ?? '');
      if (signal === undefined) {
        if (known !== null && this.#leftMs(until) <= 0) {
          const message = `The job ${childId} has not ended in time`;
          throw await this.#steps.failed(
            { ...step, state: 'timed-out' },
            { name: 'WaitTimeoutError', message, stack: null },
          );
        }
        // The id is stored first: if the attempt is cut off in between, the next one enqueues the same job.
        if (known === null) await this.#steps.record(step);
        const exists = known !== null && (await this.#options.jobs.find(childId)) !== null;
        if (!exists) await this.#enqueueChild(childId, definition, args, requested);
        return this.#wait(step, step, cancelWithJob);
      }
      const { state, result, error } = signal.data as unknown as JobEnd;
      if (state === 'done') return this.#steps.done(step, toJsonText(result, 'result'));
      const message = `The job ${childId} ${state === 'failed' ? 'failed' : 'was cancelled'}`;
      throw await this.#steps.failed(
        { ...step, state: 'failed' },
        error ?? { name: 'JobCancelled', message, stack: null },
      );
    });
  };

  /** Runs one step, unless the attempt is over. */
  async #run(
    kind: StepKind,
    name: string,
    run: (steps: StoredSteps, stored: Step | null) => Promise<unknown>,
  ): Promise<never> {
    checkText('The name of a step', name, bounds.keyLength);
    if (this.#suspension.isOver) return this.#afterwards(name);
    if (this.#options.isInTransaction())
      throw new TypeError(
        `"${name}" cannot run within transaction, which completes the job: run it before, or use step with { transaction: true }`,
      );
    const around = stepAround(this.#steps);
    if (around !== null)
      throw new TypeError(
        `"${name}" runs within the step "${around}", and steps do not nest: run one after the other, or beside each other`,
      );
    if (this.#names.has(name))
      throw new TypeError(
        `There are two steps "${name}" in this run of the handler: give each its own name, such as "${name}:1" and "${name}:2"`,
      );
    this.#names.add(name);
    this.#steps.rememberFailures();
    const result = await this.#suspension.during(async () => {
      if (kind === 'step') this.#running.add(name);
      try {
        const steps = await this.#steps.read();
        await this.#steps.decided();
        return await run(steps, steps.use(name, kind));
      } finally {
        this.#running.delete(name);
      }
    });
    return result === waiting ? never() : (result as never);
  }

  /** Called for a step that the handler starts after the attempt has ended. */
  #afterwards(name: string): Promise<never> {
    if (this.#isSuspended && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#options.warn(
        `The handler came to "${name}" beside a wait when the attempt was over already, and would do so again: put what it awaits before that into a step, too`,
      );
    }
    return never();
  }

  /**
   * Has a step wait.
   *
   * @param stored the step as it is stored; `null` to store it
   * @param cancels whether its job is cancelled with this one
   */
  async #wait(step: NewStep, stored: object | null, cancels = false): Promise<typeof waiting> {
    if (stored === null) await this.#steps.record(step);
    const signal = signalOf(step);
    this.#suspension.wait({
      until: step.until ?? this.#steps.now(),
      signal: signal === null ? null : { name: signal, needed: step.signals ?? 1 },
      cancels: cancels ? step.childId : null,
    });
    return waiting;
  }

  async #enqueueChild(
    id: string,
    definition: JobDefinition,
    args: unknown,
    options: RequestedOptions,
  ): Promise<void> {
    const { client, claim } = this.#options;
    const bound = client.boundTo(() => ({ id, enqueuedBy: claim.jobId, resumes: claim.jobId }));
    await bound.enqueue(definition, args, { ...options, idempotencyKey: `step:${id}` });
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

  /** Returns the milliseconds until a time; negative if it has passed. */
  #leftMs(time: Date | null): number {
    return (time?.getTime() ?? 0) - this.#options.clock.now();
  }
}
