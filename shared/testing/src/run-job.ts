import {
  type BoundClient,
  type Job,
  type JobContext,
  type JobHandler,
  type JsonValue,
  MemoryStorage,
  type RunJob,
  type RunningJob,
  type TransactionClient,
} from '@longshore/jobs';
import {
  checkOptions,
  contextReads,
  isFunction,
  isHandler,
  isListOf,
  isSignal,
  type JobSteps,
  type LogLevel,
  newId,
  type OptionNames,
  shown,
  type Step,
} from '@longshore/jobs/storage';
import { stepChecks, SteppedRun, type TestSteps } from './stepped-run.js';
import { type SentSignal, TestClient } from './test-client.js';
import { TestClock } from './test-clock.js';
import { isTestBatch, isTestParents, TestReader, type TestReads } from './test-reader.js';
import { inTestTransaction, type Query } from './test-transaction.js';

/** Options of {@link runJob}. Members such as `attempt` override the defaults of the handler's `job`. */
export interface RunJobOptions extends Partial<Omit<RunningJob, 'args' | 'name'>>, TestReads, TestSteps {
  /** The signal that the handler receives; by default, one that never aborts. */
  readonly signal?: AbortSignal;
  /**
   * Runs the statements of the handler's `transaction`. Without it, statements reject with a TypeError. To use a real
   * client, pass `(text, values) => client.query(text, values)`.
   */
  readonly query?: Query;
}

const runOptions: OptionNames<RunJobOptions> = {
  signal: isSignal,
  query: isFunction,
  parents: isTestParents,
  batch: isTestBatch,
  earlierErrors: isListOf(() => undefined),
  id: true,
  queue: true,
  attempt: true,
  maxAttempts: true,
  createdAt: true,
  traceparent: true,
  ...stepChecks,
};

/** What a handler's run left behind. */
export interface JobRun<Result> {
  /** The result as it would be stored; `null` if the handler returned nothing. */
  readonly result: Result;
  readonly logs: readonly {
    readonly level: LogLevel;
    readonly message: string;
    readonly fields: object | null;
  }[];
  /** The latest progress; `null` if the handler reported none. */
  readonly progress: { readonly percent: number; readonly message: string | null } | null;
  /**
   * The jobs that the handler enqueued with its context, oldest first, as they were stored. Jobs that it enqueued in a
   * transaction that failed are not among them. Jobs that it waited for have ended.
   */
  readonly enqueued: readonly Job[];
  /**
   * The signals that the handler sent, oldest first, without those in a transaction that failed. Except for those to its own
   * job and to jobs that it enqueued, they reach nobody.
   */
  readonly sent: readonly SentSignal[];
  /** What was stored of the handler's steps, in the order in which they started. */
  readonly steps: readonly Step[];
}

/** Maximum number of jobs to read for {@link JobRun.enqueued}. */
const maxEnqueued = 10_001;

/**
 * Runs a handler until it ends, by itself and in the current thread. Checks the arguments and the result against the
 * definition, as an enqueuer and a server would. Jobs that the handler enqueues are returned and do not run. The only job
 * that exists before is that of the handler, which they may name as their parent.
 *
 * Sleeps and waits take no time: a clock of the run passes it instead. As on a server, the handler runs again after each,
 * with the stored results of its steps, so what it does outside of steps is done, logged and enqueued again.
 *
 * Retries of a step are part of the run; retries of the job are not.
 *
 * @throws {InvalidArgumentsError} if the arguments or the result do not match the definition
 * @throws {TypeError} if `handler` is not the result of `handleJob`, an option is unknown, or the handler waits for a job
 *   whose result is not given
 * @throws whatever the handler throws, including `CancelJob` and `SnoozeJob`
 */
export async function runJob<Args, Result, Input>(
  handler: JobHandler<Args, Result, Input>,
  ...[input, options = {}]: {} extends Input
    ? [args?: NoInfer<Input>, options?: RunJobOptions]
    : [args: NoInfer<Input>, options?: RunJobOptions]
): Promise<JobRun<Result>> {
  if (!isHandler(handler))
    throw new TypeError(
      `runJob needs a handler, the result of handleJob(definition, run), not ${shown(handler)}`,
    );
  checkOptions('runJob', options, runOptions);
  const { definition, run } = handler;
  const {
    signal = new AbortController().signal,
    query = missing,
    parents,
    batch,
    earlierErrors = [],
    signals = [],
    children = {},
    ...job
  } = options;
  // Converts the arguments to JSON and back, as storing them would.
  const { text } = definition.check(input ?? ({} as Input));
  const args = definition.read(JSON.parse(text) as JsonValue, definition.version);
  const logs: JobRun<Result>['logs'][number][] = [];
  let progress: JobRun<Result>['progress'] = null;
  const clock = new TestClock(new Date());
  const inTransaction = <Value>(work: (client: TransactionClient) => Promise<Value>): Promise<Value> =>
    inTestTransaction(work, query);
  const storage = new MemoryStorage({ clock, transaction: inTransaction });
  let transaction: TransactionClient | undefined;
  const log = (level: LogLevel) => (message: string, fields?: object) => {
    logs.push({ level, message, fields: fields ?? null });
  };
  const running: RunningJob = {
    id: newId(),
    queue: definition.queue,
    attempt: earlierErrors.length + 1,
    maxAttempts: definition.maxAttempts,
    createdAt: new Date(),
    traceparent: null,
    ...job,
    name: definition.name,
    args,
  };
  const { name, queue, priority, maxAttempts } = definition;
  const { id } = running;
  await storage.enqueuer.enqueue([{ id, name, queue, priority, args: text, maxAttempts, due: null }]);
  const client = new TestClient(storage);
  const bound = client.boundTo(() => ({ transaction, enqueuedBy: id }));
  const contextOf = (steps: JobSteps): JobContext<unknown> => ({
    ...duringSteps(bound, steps),
    args,
    job: running,
    signal,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    progress: (percent, message) => {
      progress = { percent, message: message ?? null };
    },
    step: steps.step,
    sleep: steps.sleep,
    waitFor: steps.waitFor,
    enqueueAndWait: steps.enqueueAndWait,
    ...contextReads(new TestReader({ ...(parents && { parents }), ...(batch && { batch }), earlierErrors })),
    transaction: (work) =>
      steps.during(() =>
        inTransaction(async (client) => {
          transaction = client;
          try {
            return await work(client);
          } finally {
            transaction = undefined;
          }
        }),
      ),
  });
  const call =
    typeof run === 'function' ? run : ((await import(run.module.href)) as { run: RunJob<unknown> }).run;
  const stepped = new SteppedRun({
    storage,
    client,
    clock,
    job: { id, queue },
    definition,
    signal,
    isInTransaction: () => transaction !== undefined,
    warn: log('warn'),
    signals,
    children,
  });
  try {
    const returned = (await stepped.run((steps) => call(contextOf(steps)))) ?? null;
    const result = JSON.parse(definition.checkResult(returned as Result)) as Result;
    const jobs = await storage.jobs.list({ order: 'oldest', limit: maxEnqueued });
    const enqueued = jobs.filter((other) => other.id !== id);
    return { result, logs, progress, enqueued, sent: client.sent, steps: await stepped.steps() };
  } finally {
    await storage.close();
  }
}

/** Has a suspension wait for the calls of the handler's client, even if the handler does not. */
function duringSteps(client: BoundClient, steps: JobSteps): BoundClient {
  const joined =
    <Given extends unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    (...given: Given) =>
      steps.during(() => call(...given));
  return {
    enqueue: joined(client.enqueue),
    enqueueMany: joined(client.enqueueMany),
    enqueueBatch: joined(client.enqueueBatch),
    sendSignal: joined(client.sendSignal),
  } as BoundClient;
}

const missing: Query = () =>
  Promise.reject(
    new TypeError(
      'The handler ran a statement in its transaction: pass runJob a query function, { query: (text, values) => … }',
    ),
  );
