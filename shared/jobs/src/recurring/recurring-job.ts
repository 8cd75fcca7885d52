import { checkConcurrency, type Concurrency } from '../job/concurrency.js';
import { checkMaxAttempts, checkName, checkPriority, type JobDefinition } from '../job/definition.js';
import type { JsonText, JsonValue } from '../job/job.js';
import { checkTags } from '../job/meta.js';
import { checkSchedule } from './schedule.js';

/** What becomes of due times that nobody was there to meet: none, one or each of them gets a job. */
export type MisfirePolicy = 'skip' | 'once' | 'all';

/** What becomes of a due time while the job of the one before is unfinished: its job starts beside it, not at all, or after it. */
export type OverlapPolicy = 'allow' | 'skip' | 'wait';

/** A schedule that enqueues a job at each due time, as people read it. */
export interface RecurringJob {
  /** `nightly-report` */
  id: string;
  /** Of the jobs that it enqueues. */
  name: string;
  args: JsonValue;
  queue: string;
  priority: number;
  maxAttempts: number;
  cron: string;
  timeZone: string;
  misfire: MisfirePolicy;
  /** With misfire `all`: at most so many of the missed due times get a job, the latest ones. */
  misfireLimit: number;
  overlap: OverlapPolicy;
  /** What each of its jobs carries. */
  tags: readonly string[];
  /** Of each of its jobs; `null` if they have no concurrency key. */
  concurrency: Concurrency | null;
  /** The application whose code defines it; `null` if an operator added it. */
  application: string | null;
  /** Since when it enqueues nothing; `null` if it does. */
  pausedAt: Date | null;
  /** `null` while it is paused, and when no time fits its cron any more. */
  nextDueAt: Date | null;
  /** The last due time that got a job. */
  lastDueAt: Date | null;
  /** That job. */
  lastJobId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** A recurring job on its way into the storage: checked and complete. */
export interface NewRecurringJob extends Pick<
  RecurringJob,
  | 'id'
  | 'name'
  | 'queue'
  | 'priority'
  | 'maxAttempts'
  | 'cron'
  | 'timeZone'
  | 'misfire'
  | 'misfireLimit'
  | 'overlap'
  | 'tags'
  | 'concurrency'
> {
  args: JsonText;
}

/** How a recurring job is described, in code or by an operator. */
export interface RecurringJobOptions<Args> {
  /** Unique among all recurring jobs; same letters as the name of a job. */
  id: string;
  definition: JobDefinition<Args>;
  args: Args;
  /** Five fields (minute, hour, day of the month, month, day of the week), or six with the seconds first. */
  cron: string;
  /** Of the IANA database; `UTC` unless given. */
  timeZone?: string;
  /** `once` unless given. */
  misfire?: MisfirePolicy;
  /** With misfire `all`; 1 to 1000, 100 by default. */
  misfireLimit?: number;
  /** `allow` unless given. */
  overlap?: OverlapPolicy;
  /** Overrides the definition's queue. */
  queue?: string;
  /** Instead of the definition's priority. */
  priority?: number;
  /** Overrides the definition's maximum number of attempts. */
  maxAttempts?: number;
  /** Words to find its jobs by: at most 20 of 1 to 100 characters; none unless given. */
  tags?: readonly string[];
  /** Instead of what the definition makes of the arguments; `null` for none. */
  concurrency?: Concurrency | null;
}

/** A recurring job that belongs to somebody else; nothing was changed. */
export class RecurringJobOwnedError extends Error {
  override readonly name = 'RecurringJobOwnedError';

  /** @param application `null` if an operator added it */
  constructor(id: string, application: string | null) {
    super(
      application === null
        ? `An operator added the recurring job "${id}"; remove it first, or use another id`
        : `The code of the application "${application}" defines the recurring job "${id}"; change it there, or pause it`,
    );
  }
}

/**
 * Describes a recurring job in code. Give it to a `JobServer` as one of `recurring`: it is stored when that server starts.
 *
 * @throws {InvalidScheduleError} if the cron expression or the time zone cannot be used
 * @throws {InvalidArgumentsError} if the arguments do not fit the definition
 * @throws {RangeError} if another member is out of its bounds
 */
export function defineRecurringJob<Args>(options: RecurringJobOptions<Args>): NewRecurringJob {
  const { id, definition, args, cron, timeZone = 'UTC', misfireLimit = 100 } = options;
  const { misfire = 'once', overlap = 'allow' } = options;
  const { queue = definition.queue, priority = definition.priority } = options;
  const { maxAttempts = definition.maxAttempts, tags = [] } = options;
  const { concurrency = definition.concurrencyOf(args) } = options;
  checkName('recurring job', id);
  checkName('queue', queue);
  checkPriority(priority);
  checkMaxAttempts(maxAttempts);
  checkOneOf('misfire', misfire, ['skip', 'once', 'all']);
  checkOneOf('overlap', overlap, ['allow', 'skip', 'wait']);
  if (!Number.isInteger(misfireLimit) || misfireLimit < 1 || misfireLimit > 1_000) {
    throw new RangeError(`misfireLimit is an integer from 1 to 1000, not ${misfireLimit}`);
  }
  checkSchedule(cron, timeZone);
  return Object.freeze({
    id,
    name: definition.name,
    args: definition.serialize(args),
    queue,
    priority,
    maxAttempts,
    cron,
    timeZone,
    misfire,
    misfireLimit,
    overlap,
    tags: checkTags(tags),
    concurrency: concurrency === null ? null : checkConcurrency(concurrency),
  });
}

function checkOneOf(option: string, value: string, allowed: readonly string[]): void {
  if (allowed.includes(value)) return;
  throw new RangeError(`${option} is one of ${allowed.join(', ')}, not "${value}"`);
}
