import type { JobClient, JobDefinition, JsonValue, MemoryStorage } from '@longshore/jobs';
import {
  bounds,
  type Claim,
  hasOptions,
  isListOf,
  isString,
  JobSteps,
  type NewSignal,
  type OptionNames,
  type Outcome,
  shown,
  type Step,
  type SuspendOutcome,
  toJobError,
  toJsonText,
} from '@longshore/jobs/storage';
import type { TestClock } from './test-clock.js';

/** What the steps of a handler find in a test. */
export interface TestSteps {
  /** The signals that the job has from the start; none by default. A wait for any other times out at once, by the test's clock. */
  readonly signals?: readonly NewSignal[];
  /**
   * The results of the jobs that the handler waits for, by the names of its steps; an Error if the job is to have failed.
   * None by default: a wait for another job throws a TypeError.
   */
  readonly children?: Readonly<Record<string, JsonValue | Error>>;
}

export const stepChecks: OptionNames<TestSteps> = {
  signals: isListOf(hasOptions<NewSignal>({ name: isString, data: true, id: true, sentBy: true }, ['name'])),
  children: (what, value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Error)
      throw new TypeError(`${what} must be an object such as { label: 'L7' }, not ${shown(value)}`);
  },
};

interface SteppedRunOptions extends TestSteps {
  readonly storage: MemoryStorage;
  readonly client: JobClient;
  readonly clock: TestClock;
  readonly job: { readonly id: string; readonly queue: string };
  readonly definition: JobDefinition;
  readonly signal: AbortSignal;
  readonly isInTransaction: () => boolean;
  readonly warn: (message: string) => void;
}

const leaseMs = bounds.delayMs.max;
const serverDescription = {
  host: 'test',
  pid: process.pid,
  queues: [],
  concurrency: 1,
  timeoutMs: 86_400_000,
};

/** Maximum number of ready jobs of a queue among which the job of the run is found. */
const maxReady = 100_000;

/** Runs a handler in memory until it ends, through its sleeps and waits. */
export class SteppedRun {
  readonly #options: SteppedRunOptions;
  #serverId = '';

  constructor(options: SteppedRunOptions) {
    this.#options = options;
  }

  /**
   * Calls the handler, and again whenever a wait is over, until it returns or throws.
   *
   * @throws {TypeError} if it waits for a job whose result is not given
   */
  async run(call: (steps: JobSteps) => unknown): Promise<unknown> {
    const { storage, job, signals = [] } = this.#options;
    this.#serverId = (await storage.servers.register(serverDescription)).id;
    for (const signal of signals) await storage.steps.signal(job.id, signal);
    for (;;) {
      const claim = await this.#claim(job.id);
      const ended = await this.#attempt(claim, call);
      if ('value' in ended) return ended.value;
      await this.#end(claim, ended);
      await this.#resume();
    }
  }

  /** Returns what is stored of the steps. */
  async steps(): Promise<readonly Step[]> {
    return (await this.#options.storage.steps.read(this.#options.job)).steps;
  }

  #attempt(
    claim: Claim,
    call: (steps: JobSteps) => unknown,
  ): Promise<{ readonly value: unknown } | SuspendOutcome> {
    const { storage, client, clock, signal, definition, isInTransaction, warn } = this.#options;
    return new Promise((resolve, reject) => {
      const steps = new JobSteps({
        claim,
        store: storage.steps,
        jobs: storage.jobs,
        clock,
        client,
        retryRules: definition.retryRules,
        toResult: (value, root) => toJsonText(value ?? null, root),
        signal,
        abandoned: new AbortController().signal,
        warn,
        isInTransaction,
        suspend: resolve,
      });
      const called = async (): Promise<void> => {
        try {
          const value = await call(steps);
          await steps.end();
          resolve({ value });
        } catch (error) {
          await steps.end({ error });
          throw error;
        }
      };
      called().catch(reject);
    });
  }

  /** Ends the jobs that the handler waits for, or else moves the clock to the next time for which it waits. */
  async #resume(): Promise<void> {
    const { storage, clock, job, children = {} } = this.#options;
    for (const { kind, state, name, childId } of await this.steps()) {
      if (kind !== 'job' || state !== 'waiting' || childId === null) continue;
      const result = Object.hasOwn(children, name) ? children[name] : undefined;
      if (result === undefined)
        throw new TypeError(
          `The handler waits for the job of its step "${name}": pass runJob its result, { children: { '${name}': … } }, or an Error`,
        );
      await storage.control.run(childId);
      await this.#end(
        await this.#claim(childId),
        result instanceof Error
          ? { kind: 'failed', error: toJobError(result) }
          : { kind: 'done', result: toJsonText(result, 'result') },
      );
    }
    const runAt = (await storage.jobs.find(job.id))?.runAt ?? null;
    if (runAt !== null && runAt.getTime() > clock.now()) clock.advanceTo(runAt);
    await storage.control.run(job.id);
  }

  async #claim(id: string): Promise<Claim> {
    const { storage } = this.#options;
    const queue = (await storage.jobs.find(id))?.queue ?? '';
    const request = { serverId: this.#serverId, queue, limit: maxReady, leaseMs };
    const claims = (await storage.claims.claim(request)).map(({ claim }) => claim);
    await storage.claims.release(claims.filter(({ jobId }) => jobId !== id));
    const claim = claims.find(({ jobId }) => jobId === id);
    if (claim === undefined) throw new Error(`The job ${id} cannot run`);
    return claim;
  }

  async #end(claim: Claim, outcome: Outcome): Promise<void> {
    await this.#options.storage.completions.complete([{ claim, outcome }]);
  }
}
