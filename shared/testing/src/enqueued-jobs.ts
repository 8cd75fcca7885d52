import { AssertionError } from 'node:assert';
import { inspect, isDeepStrictEqual } from 'node:util';
import type { Job, JobDefinition, JobStorage } from '@longshore/jobs';
import {
  type Check,
  checkDefinition,
  checkOptions,
  checkStorage,
  isDate,
  isOptions,
  isText,
  namesOf,
  type OptionNames,
  shown,
} from '@longshore/jobs/storage';

/** Selects jobs that are awaiting, scheduled or enqueued. An omitted member matches any job. */
export interface EnqueuedFilter<Input> {
  /** Arguments that a job must have been enqueued with. Other arguments can have any value. */
  readonly args?: Partial<Input>;
  readonly queue?: string;
  readonly tag?: string;
  /** When a scheduled job is due. */
  readonly runAt?: Date;
}

const isArgs: Check = (what, value) => {
  if (!isOptions(value)) throw new TypeError(`${what} must be an object with arguments, not ${shown(value)}`);
};

const filterOptions: OptionNames<EnqueuedFilter<unknown>> = {
  args: isArgs,
  queue: isText,
  tag: isText,
  runAt: isDate,
};

type Jobs = Pick<JobStorage, 'jobs'>;

const waiting = ['awaiting', 'scheduled', 'enqueued'] as const;

const limit = 10_000;

/**
 * Returns the jobs of a definition that are awaiting, scheduled or enqueued, oldest first. Reads at most 10,000 jobs.
 *
 * @throws {TypeError} if `storage` is not a storage, `definition` is not a job definition, or the filter has an unknown
 *   member
 */
export async function enqueuedJobs<Args, Result, Input>(
  storage: Jobs,
  definition: JobDefinition<Args, Result, Input>,
  wanted: EnqueuedFilter<NoInfer<Input>> = {},
): Promise<Job<Input, Result>[]> {
  checkStorage('enqueuedJobs', storage, ['jobs']);
  checkDefinition('enqueuedJobs', definition);
  // An unknown member would match every job, and a test would pass that should fail.
  checkOptions('The filter of enqueuedJobs', wanted, filterOptions);
  const { args = {}, queue, tag, runAt } = wanted;
  const filter = {
    name: [...namesOf(definition)],
    state: waiting,
    ...(queue !== undefined && { queue: [queue] }),
    ...(tag !== undefined && { tag: [tag] }),
  };
  const found = (await storage.jobs.list({ filter, order: 'oldest', limit })) as Job<Input, Result>[];
  return found.filter(
    (job) => matches(job.args, args) && (runAt === undefined || job.runAt?.getTime() === runAt.getTime()),
  );
}

/**
 * Returns the first job that {@link enqueuedJobs} finds.
 *
 * @throws {AssertionError} if it finds none; the message lists up to 20 jobs that are awaiting, scheduled or enqueued
 */
export async function assertEnqueued<Args, Result, Input>(
  storage: Jobs,
  definition: JobDefinition<Args, Result, Input>,
  filter: EnqueuedFilter<NoInfer<Input>> = {},
): Promise<Job<Input, Result>> {
  const [job] = await enqueuedJobs(storage, definition, filter);
  if (job !== undefined) return job;
  const others = await storage.jobs.list({ filter: { state: waiting }, order: 'oldest', limit: 20 });
  const list = others.map(
    ({ name, queue, args }) => `  ${name} in ${queue}: ${inspect(args, { breakLength: Infinity })}`,
  );
  throw new AssertionError({
    message: [
      `No job "${definition.name}" is enqueued${described(filter)}.`,
      list.length === 0 ? 'Nothing is enqueued.' : `Enqueued:\n${list.join('\n')}`,
    ].join(' '),
    stackStartFn: assertEnqueued,
  });
}

/**
 * Asserts that {@link enqueuedJobs} finds no job.
 *
 * @throws {AssertionError} if it finds one; the message shows the first
 */
export async function refuteEnqueued<Args, Result, Input>(
  storage: Jobs,
  definition: JobDefinition<Args, Result, Input>,
  filter: EnqueuedFilter<NoInfer<Input>> = {},
): Promise<void> {
  const [job] = await enqueuedJobs(storage, definition, filter);
  if (job === undefined) return;
  throw new AssertionError({
    message: `A job "${definition.name}" is enqueued${described(filter)}: ${job.id} with ${inspect(job.args)}`,
    stackStartFn: refuteEnqueued,
  });
}

function described(filter: object): string {
  return Object.keys(filter).length === 0 ? '' : ` with ${inspect(filter, { breakLength: Infinity })}`;
}

function matches(args: unknown, expected: object): boolean {
  return Object.entries(expected).every(([key, value]) =>
    isDeepStrictEqual((args as Readonly<Record<string, unknown>>)[key], value),
  );
}
