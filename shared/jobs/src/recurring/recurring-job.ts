import type { ArgsMember, InputOfJob } from '../job/definition.js';
import { bounds, checkInteger } from '../job/bounds.js';
import { brand } from '@longshore/edge';
import { checkConcurrency, type CheckedConcurrency, type Concurrency } from '../job/concurrency.js';
import {
  checkDefinition,
  checkMaxAttempts,
  checkName,
  checkPriority,
  checkTimeout,
  type JobDefinition,
} from '../job/definition.js';
import type { JsonText, JsonValue } from '../job/job.js';
import { checkTags } from '../job/meta.js';
import { checkOptions, type OptionNames } from '../job/options.js';
import { shown } from '../job/shown.js';
import type { PauseState } from '../job/pause.js';
import { fullUniqueness, type JobUniqueness, type Uniqueness } from '../job/uniqueness.js';
import { type ScheduleOptions, type StoredSchedule, toStoredSchedule } from './schedule.js';

/**
 * How missed due times are handled:
 *
 * - `skip`: no job is enqueued
 * - `once`: one job is enqueued for all of them
 * - `all`: one job is enqueued for each of the latest `misfireLimit` due times. With overlap `skip`, only one job is
 *   enqueued
 */
export type MisfirePolicy = 'skip' | 'once' | 'all';

/**
 * How a due time is handled while the previous job is unfinished:
 *
 * - `allow`: the next job is enqueued anyway
 * - `skip`: no job is enqueued
 * - `wait`: the next job is enqueued when the previous job has finished
 */
export type OverlapPolicy = 'allow' | 'skip' | 'wait';

/** A schedule that enqueues a job at each due time. */
export interface RecurringJob extends PauseState, StoredSchedule {
  /** The unique id, such as `nightly-report`. */
  id: string;
  /** The name of the enqueued jobs. */
  name: string;
  args: JsonValue;
  /** The version of the job definition for which the arguments were written. */
  version: number;
  queue: string;
  priority: number;
  maxAttempts: number;
  /** Time limit per attempt, in milliseconds; `null` if the limit of the job definition applies. */
  timeoutMs: number | null;
  misfire: MisfirePolicy;
  /**
   * With misfire `all`: maximum number of missed due times to enqueue jobs for. If more have passed, the earliest are
   * skipped.
   */
  misfireLimit: number;
  overlap: OverlapPolicy;
  /** No job is enqueued at a due time if the queue's backlog has this many jobs; `null` if that makes no difference. */
  maxBacklog: number | null;
  /** The tags of the enqueued jobs. */
  tags: readonly string[];
  /** The concurrency key of the enqueued jobs, with its limits; `null` if they have none. */
  concurrency: CheckedConcurrency | null;
  /**
   * The unique key of the enqueued jobs; `null` if they have none. If another job holds it at a due time, no job is enqueued:
   * `replace` gives that job the content of the new one, `keep` and `reject` leave it as it is.
   */
  unique: JobUniqueness | null;
  /** The application that defines the recurring job in code; `null` if an operator added it. */
  application: string | null;
  /** The next due time; `null` while paused, or if there is none within 50 years and before the year 10000. */
  nextDueAt: Date | null;
  /** The latest due time for which a job was enqueued; `null` if there is none. */
  lastDueAt: Date | null;
  /** Id of the job that was enqueued for `lastDueAt`; `null` if there is none. */
  lastJobId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A recurring job to store: validated and complete. */
export interface NewRecurringJob extends Pick<
  RecurringJob,
  | 'id'
  | 'name'
  | 'version'
  | 'queue'
  | 'priority'
  | 'maxAttempts'
  | 'timeoutMs'
  | 'cron'
  | 'timeZone'
  | 'every'
  | 'anchor'
  | 'misfire'
  | 'misfireLimit'
  | 'overlap'
  | 'maxBacklog'
  | 'tags'
  | 'concurrency'
  | 'unique'
> {
  args: JsonText;
}

/** Options of a recurring job, whether it is defined in code or added by an operator. */
export type RecurringJobOptions<Definition extends JobDefinition = JobDefinition> =
  RecurringJobSettings<Definition> & ScheduleOptions & ArgsMember<InputOfJob<Definition>>;

/** Options of a recurring job, without its schedule and the arguments of its jobs. */
export interface RecurringJobSettings<Definition extends JobDefinition> {
  /** Unique among all recurring jobs. Follows the naming rules of job names. */
  id: string;
  definition: Definition;
  /** The version of the definition for which the arguments were written; by default, that of the definition. */
  version?: number;
  /** `once` by default. */
  misfire?: MisfirePolicy;
  /**
   * With misfire `all`: maximum number of missed due times to enqueue jobs for. If more have passed, the earliest are
   * skipped. 1 to 1000, 100 by default.
   */
  misfireLimit?: number;
  /** `allow` by default. */
  overlap?: OverlapPolicy;
  /**
   * No job is enqueued at a due time if the queue's backlog (its ready and blocked jobs) has this many jobs: 1 or more; no limit by default. Such due times
   * are recorded as missed.
   */
  maxBacklog?: number | null;
  /** Overrides the definition's queue. */
  queue?: string;
  /** Overrides the definition's priority. */
  priority?: number;
  /** Overrides the definition's maximum number of attempts. */
  maxAttempts?: number;
  /** Overrides the definition's time limit per attempt, in milliseconds: 1 to 86,400,000. */
  timeoutMs?: number | null;
  /** Tags of the jobs: at most 20, each of 1 to 100 characters; none by default. */
  tags?: readonly string[];
  /** Overrides the definition's concurrency rule; `null` removes it. */
  concurrency?: Concurrency | null;
  /**
   * Enqueues no job at a due time while another job of this name in the queue holds the key; the due time is recorded as missed.
   * Overrides the definition's rule; `null` removes it.
   */
  unique?: Uniqueness | null;
}

/** Thrown if a recurring job cannot be changed because an application defines it in code. Nothing was changed. */
export class RecurringJobOwnedError extends Error {
  static {
    brand(this, 'RecurringJobOwnedError');
  }

  override readonly name = 'RecurringJobOwnedError';

  /** @param application the application that defines the recurring job */
  constructor(id: string, application: string) {
    super(
      `The recurring job "${id}" is defined in the code of the application "${application}"; change it there, or pause it`,
    );
  }
}

const recurringJobOptions: OptionNames<
  RecurringJobSettings<JobDefinition> & ScheduleOptions & { args?: unknown }
> = {
  id: true,
  definition: true,
  args: true,
  version: true,
  cron: true,
  timeZone: true,
  every: true,
  anchor: true,
  misfire: true,
  misfireLimit: true,
  overlap: true,
  maxBacklog: true,
  queue: true,
  priority: true,
  maxAttempts: true,
  timeoutMs: true,
  tags: true,
  concurrency: true,
  unique: true,
};

/**
 * Defines a recurring job in code. Pass the result to a `JobServer` in the `recurring` option. The server stores the
 * recurring job on startup.
 *
 * @throws {InvalidScheduleError} if not exactly one of `cron` and `every` is set, if a value is invalid, or if no time matches
 *   the cron expression
 * @throws {InvalidArgumentsError} if the arguments do not match the definition's schema
 * @throws {RangeError} if another option is out of bounds
 * @throws {TypeError} if `definition` is not a job definition, or an option is unknown
 */
export function defineRecurringJob<Definition extends JobDefinition>(
  options: RecurringJobOptions<Definition>,
): NewRecurringJob {
  checkOptions('defineRecurringJob', options, recurringJobOptions);
  const { id, definition, args: input = {}, misfireLimit = 100 } = options;
  checkDefinition('defineRecurringJob', definition);
  const { misfire = 'once', overlap = 'allow', maxBacklog = null } = options;
  const { queue = definition.queue, priority = definition.priority } = options;
  const { maxAttempts = definition.maxAttempts, timeoutMs = null, tags = [] } = options;
  const { version = definition.version } = options;
  checkInteger('version', version, bounds.version);
  const { value: args, text } = definition.check(input, version);
  const { concurrency = definition.concurrencyOf(args), unique = definition.uniquenessOf(args) } = options;
  checkName('recurring job', id);
  checkName('queue', queue);
  checkPriority(priority);
  checkMaxAttempts(maxAttempts);
  if (timeoutMs !== null) checkTimeout(timeoutMs);
  checkOneOf('misfire', misfire, ['skip', 'once', 'all']);
  checkOneOf('overlap', overlap, ['allow', 'skip', 'wait']);
  checkInteger('misfireLimit', misfireLimit, { min: 1, max: 1_000 });
  if (maxBacklog !== null) checkInteger('maxBacklog', maxBacklog, maxBacklogBounds);
  return Object.freeze({
    id,
    name: definition.name,
    args: text,
    version,
    queue,
    priority,
    maxAttempts,
    timeoutMs,
    ...toStoredSchedule(options),
    misfire,
    misfireLimit,
    overlap,
    maxBacklog,
    tags: checkTags(tags),
    concurrency: concurrency === null ? null : checkConcurrency(concurrency),
    unique: unique === null ? null : fullUniqueness('defineRecurringJob: unique', unique),
  });
}

/** The bounds of `maxBacklog`: those of a Postgres integer. */
const maxBacklogBounds = { min: 1, max: 2_147_483_647 };

function checkOneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new RangeError(`${option} must be one of ${allowed.join(', ')}, not ${shown(value)}`);
}
