import type { JobContext, JobHandler, RunJob, RunningJob } from '@longshore/jobs';
import {
  checkOptions,
  isFunction,
  isHandler,
  isSignal,
  type LogLevel,
  newId,
  type OptionNames,
  shown,
} from '@longshore/jobs/storage';
import { inTestTransaction, type Query } from './test-transaction.js';

/** Options of {@link runJob}. Members such as `attempt` override the defaults of the handler's `job`. */
export interface RunJobOptions extends Partial<Omit<RunningJob, 'args' | 'name'>> {
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
  id: true,
  queue: true,
  attempt: true,
  maxAttempts: true,
  createdAt: true,
  traceparent: true,
};

/** The result, log lines and progress of a handler's run. */
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
}

/**
 * Runs one attempt of a handler, without a storage and in the current thread. Checks the arguments and the result
 * against the definition, as an enqueuer and a server would.
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
  const { signal = new AbortController().signal, query, ...job } = options;
  // Converts the arguments to JSON and back, as storing them would.
  const args: unknown = JSON.parse(definition.check(input ?? ({} as Input)).text);
  const logs: JobRun<Result>['logs'][number][] = [];
  let progress: JobRun<Result>['progress'] = null;
  const log = (level: LogLevel) => (message: string, fields?: object) => {
    logs.push({ level, message, fields: fields ?? null });
  };
  const context: JobContext<unknown> = {
    args,
    job: {
      id: newId(),
      queue: definition.queue,
      attempt: 1,
      maxAttempts: definition.maxAttempts,
      createdAt: new Date(),
      traceparent: null,
      ...job,
      name: definition.name,
      args,
    },
    signal,
    log: { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') },
    progress: (percent, message) => {
      progress = { percent, message: message ?? null };
    },
    transaction: (work) => inTestTransaction(work, query ?? missing),
  };
  const call =
    typeof run === 'function' ? run : ((await import(run.module.href)) as { run: RunJob<unknown> }).run;
  const returned = (await call(context)) ?? null;
  return { result: JSON.parse(definition.checkResult(returned as Result)) as Result, logs, progress };
}

const missing: Query = () =>
  Promise.reject(
    new TypeError(
      'The handler ran a statement in its transaction: pass runJob a query function, { query: (text, values) => … }',
    ),
  );
