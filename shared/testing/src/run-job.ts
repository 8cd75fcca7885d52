import {
  type Job,
  JobClient,
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
  type LogLevel,
  newId,
  type OptionNames,
  shown,
} from '@longshore/jobs/storage';
import { isTestBatch, isTestParents, TestReader, type TestReads } from './test-reader.js';
import { inTestTransaction, type Query } from './test-transaction.js';

/** Options of {@link runJob}. Members such as `attempt` override the defaults of the handler's `job`. */
export interface RunJobOptions extends Partial<Omit<RunningJob, 'args' | 'name'>>, TestReads {
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
   * transaction that failed are not among them.
   */
  readonly enqueued: readonly Job[];
}

/** Maximum number of jobs to read for {@link JobRun.enqueued}. */
const maxEnqueued = 10_001;

/**
 * Runs one attempt of a handler, by itself and in the current thread. Checks the arguments and the result against the
 * definition, as an enqueuer and a server would. Jobs that the handler enqueues are returned and do not run. The only job
 * that exists before is that of the handler, which they may name as their parent.
 *
 * @throws {InvalidArgumentsError} if the arguments or the result do not match the definition
 * @throws {TypeError} if `handler` is not the result of `handleJob`, or an option is unknown
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
    query,
    parents,
    batch,
    earlierErrors = [],
    ...job
  } = options;
  // Converts the arguments to JSON and back, as storing them would.
  const { text } = definition.check(input ?? ({} as Input));
  const args = definition.read(JSON.parse(text) as JsonValue, definition.version);
  const logs: JobRun<Result>['logs'][number][] = [];
  let progress: JobRun<Result>['progress'] = null;
  const storage = new MemoryStorage();
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
  const context: JobContext<unknown> = {
    ...new JobClient(storage).boundTo(() => ({ transaction, enqueuedBy: id })),
    args,
    job: running,
    signal,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    progress: (percent, message) => {
      progress = { percent, message: message ?? null };
    },
    ...contextReads(new TestReader({ ...(parents && { parents }), ...(batch && { batch }), earlierErrors })),
    transaction: (work) =>
      inTestTransaction(async (client) => {
        transaction = client;
        try {
          return await work(client);
        } finally {
          transaction = undefined;
        }
      }, query ?? missing),
  };
  const call =
    typeof run === 'function' ? run : ((await import(run.module.href)) as { run: RunJob<unknown> }).run;
  const returned = (await call(context)) ?? null;
  const result = JSON.parse(definition.checkResult(returned as Result)) as Result;
  const jobs = await storage.jobs.list({ order: 'oldest', limit: maxEnqueued });
  await storage.close();
  return { result, logs, progress, enqueued: jobs.filter((enqueued) => enqueued.id !== id) };
}

const missing: Query = () =>
  Promise.reject(
    new TypeError(
      'The handler ran a statement in its transaction: pass runJob a query function, { query: (text, values) => … }',
    ),
  );
