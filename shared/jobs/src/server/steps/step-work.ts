import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type { JobClient } from '../../client/job-client.js';
import { CancelJob, ClaimLostError, SnoozeJob } from '../../job/errors.js';
import { toJobError } from '../../job/failure.js';
import { isA } from '../../job/is-a.js';
import type { Claim, JsonText, JsonValue } from '../../job/job.js';
import { delayBefore, isRetryable, type RetryDelay, type RetryRules } from '../../job/retry.js';
import type { NewStep } from '../../job/step.js';
import type { Steps } from '../../storage/steps.js';
import type { RunningStep, StepOptions, TransactionalStep } from './step-context.js';
import type { StepStore } from './step-store.js';
import { StepTimeLimit } from './step-time-limit.js';

/** The step whose work is running, by the context of its asynchronous calls. */
const running = new AsyncLocalStorage<{ readonly steps: StepStore; readonly name: string }>();

/** Returns the name of the step of this attempt whose work makes the current call; `null` if none does. */
export function stepAround(steps: StepStore): string | null {
  const step = running.getStore();
  return step?.steps === steps ? step.name : null;
}

export type Work = (context: RunningStep | TransactionalStep) => unknown;

/** A part of an attempt that is observed by itself. */
export type AttemptPart =
  | { readonly kind: 'step'; readonly name: string; readonly attempt: number }
  | { readonly kind: 'transaction' };

/** Runs the work of a part of an attempt, and returns what it returns. */
export type AroundPart = <Result>(part: AttemptPart, work: () => Promise<Result>) => Promise<Result>;

export interface StepWorkOptions {
  readonly claim: Claim;
  readonly store: Steps;
  readonly client: JobClient;
  readonly retryRules: RetryRules;
  /** Serializes the result of a step, called `root` in errors. Throws if it is not JSON or too large. */
  readonly toResult: (value: unknown, root: string) => JsonText;
  /** Aborts when the attempt should end. */
  readonly signal: AbortSignal;
  /** Aborts when the server has given up on the attempt. */
  readonly abandoned: AbortSignal;
  /** Called around each attempt of a step, until its result is stored; by default, nothing is. */
  readonly around?: AroundPart;
}

/** A time up to which a step waits without suspending the attempt, in milliseconds. Suspending it takes about as long. */
export const shortMs = 50;

/** The work of one step, with its own attempts and time limit. */
export class StepWork {
  readonly #options: StepWorkOptions;
  readonly #steps: StepStore;
  readonly #work: Work;
  readonly #of: StepOptions;
  readonly #retryDelay: RetryDelay | undefined;

  constructor(
    options: StepWorkOptions,
    steps: StepStore,
    work: Work,
    of: StepOptions,
    retryDelay: RetryDelay | undefined,
  ) {
    this.#options = options;
    this.#steps = steps;
    this.#work = work;
    this.#of = of;
    this.#retryDelay = retryDelay;
  }

  /**
   * Runs the work and stores its result, which it returns. If another attempt is to follow later, returns the step that
   * waits for it.
   */
  async run(step: NewStep): Promise<{ readonly value: JsonValue } | { readonly waiting: NewStep }> {
    const { signal, retryRules, around = plainly } = this.#options;
    for (let attempts = step.attempts; ; attempts++) {
      try {
        const part = { kind: 'step', name: step.name, attempt: attempts } as const;
        return { value: await around(part, () => this.#attempt({ ...step, attempts })) };
      } catch (thrown) {
        const isOfJob = isA(thrown, ClaimLostError) || isA(thrown, CancelJob) || isA(thrown, SnoozeJob);
        if (signal.aborted || isOfJob) throw thrown;
        const error = toJobError(thrown);
        if (attempts >= (this.#of.maxAttempts ?? 1) || !isRetryable(thrown, retryRules)) {
          this.#steps.failedFor({ ...step, attempts }, error, thrown);
          throw thrown;
        }
        const delayMs = delayBefore(attempts, thrown, this.#retryDelay);
        const until = new Date(this.#steps.now().getTime() + delayMs);
        if (delayMs > shortMs) return { waiting: { ...step, attempts, error, until } };
        await delay(delayMs);
      }
    }
  }

  async #attempt(step: NewStep): Promise<JsonValue> {
    const { signal, toResult } = this.#options;
    const { timeoutMs, transaction = false } = this.#of;
    const limit = timeoutMs === undefined ? null : new StepTimeLimit(step.name, timeoutMs, signal);
    const { name } = step;
    const run = (context: RunningStep | TransactionalStep): unknown => {
      const work = running.run({ steps: this.#steps, name }, () => this.#work(context));
      return limit === null ? work : limit.during(work);
    };
    const context = { attempt: step.attempts, signal: limit?.signal ?? signal };
    try {
      if (transaction) return await this.#inTransaction(step, context, run);
      return await this.#steps.done(step, toResult(await run(context), rootOf(step)));
    } finally {
      limit?.cancel();
    }
  }

  async #inTransaction(step: NewStep, context: RunningStep, run: Work): Promise<JsonValue> {
    const { store, claim, client, toResult, abandoned } = this.#options;
    let ended: NewStep = step;
    const work = async (transaction: TransactionalStep['client']): Promise<NewStep> => {
      const bound = client.boundTo(() => ({ transaction, enqueuedBy: claim.jobId }));
      const result = toResult(await run({ ...context, ...bound, client: transaction }), rootOf(step));
      return (ended = this.#steps.ended(step, 'done', result));
    };
    await store.recordInTransaction(claim, work, abandoned);
    await this.#steps.stored(ended);
    return JSON.parse(ended.result) as JsonValue;
  }
}

const plainly: AroundPart = (_part, work) => work();

/** Returns what errors call the result of a step. */
function rootOf({ name }: NewStep): string {
  return `step(${JSON.stringify(name)})`;
}
