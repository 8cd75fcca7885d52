import { type Job, JobClient, type JobDefinition, type JobHandler, MemoryStorage } from '@longshore/jobs';
import { checkOptions, isFunction, isHandlerList, type OptionNames } from '@longshore/jobs/storage';
import { drain, type DrainReport } from './drain.js';
import { assertEnqueued, enqueuedJobs, type EnqueuedFilter, refuteEnqueued } from './enqueued-jobs.js';
import { TestClock } from './test-clock.js';
import { inTestTransaction, type Query, type TestTransaction } from './test-transaction.js';

export interface TestJobsOptions {
  /** The handlers of the jobs that `drain` runs; none by default. */
  readonly handlers?: readonly JobHandler[];
  /** Runs the statements of transactions; by default, they return no rows. */
  readonly query?: Query;
  /** The start time of the clock; 2026-01-01T00:00:00Z by default. */
  readonly start?: Date | string;
}

const testOptions: OptionNames<TestJobsOptions> = {
  handlers: isHandlerList,
  query: isFunction,
  start: true,
};

/**
 * Jobs in memory, for one test: a storage, a client, a clock, and the helpers of this package. Nothing runs between
 * calls, so a test has nothing to stop at the end.
 */
export class TestJobs {
  readonly clock: TestClock;
  readonly storage: MemoryStorage;
  readonly client: JobClient;
  readonly #handlers: readonly JobHandler[];
  readonly #query: Query | undefined;

  /** @throws {TypeError} if an option is unknown */
  constructor(options: TestJobsOptions = {}) {
    checkOptions('TestJobs', options, testOptions);
    const { handlers = [], query, start } = options;
    this.clock = new TestClock(start);
    this.#handlers = handlers;
    this.#query = query;
    this.storage = new MemoryStorage({ clock: this.clock, transaction: (work) => this.transaction(work) });
    this.client = new JobClient(this.storage);
  }

  /** Runs jobs until none is ready; see {@link drain}. */
  drain(): Promise<DrainReport> {
    return drain(this.storage, { handlers: this.#handlers });
  }

  /**
   * Runs `work` in a transaction. Jobs that are enqueued in the transaction exist once it commits. If `work` throws,
   * they are discarded.
   */
  transaction<Result>(work: (transaction: TestTransaction) => Promise<Result>): Promise<Result> {
    return inTestTransaction(work, this.#query);
  }

  /** Returns the jobs of a definition that are awaiting, scheduled or enqueued; see {@link enqueuedJobs}. */
  enqueued<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    filter?: EnqueuedFilter<NoInfer<Input>>,
  ): Promise<Job<Input, Result>[]> {
    return enqueuedJobs(this.storage, definition, filter);
  }

  /**
   * Returns the first job that {@link enqueued} finds.
   *
   * @throws {AssertionError} if it finds none
   */
  assertEnqueued<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    filter?: EnqueuedFilter<NoInfer<Input>>,
  ): Promise<Job<Input, Result>> {
    return assertEnqueued(this.storage, definition, filter);
  }

  /**
   * Asserts that {@link enqueued} finds no job.
   *
   * @throws {AssertionError} if it finds one
   */
  refuteEnqueued<Args, Result, Input>(
    definition: JobDefinition<Args, Result, Input>,
    filter?: EnqueuedFilter<NoInfer<Input>>,
  ): Promise<void> {
    return refuteEnqueued(this.storage, definition, filter);
  }
}
