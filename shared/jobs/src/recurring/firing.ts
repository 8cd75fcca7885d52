import { concurrencyMeta } from '../job/concurrency.js';
import { newId } from '../job/id.js';
import type { JsonText, NewJob } from '../job/job.js';
import type { JobKey } from '../job/job-key.js';
import { toUniqueness, uniqueKey } from '../job/uniqueness.js';
import type { NewRecurringJob, RecurringJob } from './recurring-job.js';
import { Schedule, type StoredSchedule } from './schedule.js';

/** A due time counts as missed if it is handled more than this many milliseconds late. */
const misfireThresholdMs = 60_000;

/** A span of due times without a job, from `from` (inclusive) to `until` (exclusive). */
export interface SkippedDueTimes {
  readonly from: Date;
  readonly until: Date;
  /**
   * `misfire`: no server handled these due times on time. `overlap`: the previous job had not finished. `backlog`: the
   * queue had as large a backlog as the recurring job allows. `duplicate`: another job held the unique key.
   */
  readonly reason: 'misfire' | 'overlap' | 'backlog' | 'duplicate';
}

/** What to do about a due recurring job. */
export interface Firing {
  /** One job is enqueued for each of these due times. */
  readonly dueTimes: readonly Date[];
  /** When the recurring job is next due; `null` if the schedule has no further time. */
  readonly nextDueAt: Date | null;
  readonly skipped: SkippedDueTimes | null;
}

/**
 * Decides how to handle a due recurring job. If several due times have passed, all but the latest count as missed. The
 * latest counts as missed too if it was more than a minute ago.
 *
 * @param now by the storage's clock; not before `nextDueAt`
 * @param isBusy whether the previous job is unfinished
 * @param room how many jobs may be enqueued; see {@link roomFor}
 * @returns `null` if the recurring job must wait until the previous job has finished
 */
export function planFiring(
  job: StoredSchedule & Pick<RecurringJob, 'misfire' | 'misfireLimit' | 'overlap' | 'unique'>,
  nextDueAt: Date,
  now: Date,
  isBusy: boolean,
  room = Infinity,
): Firing | null {
  const { misfire, overlap, unique } = job;
  if (isBusy && overlap === 'wait') return null;
  const schedule = new Schedule(job);
  const following = schedule.next(now);
  const skipAll = (reason: SkippedDueTimes['reason']): Firing => ({
    dueTimes: [],
    nextDueAt: following,
    skipped: { from: nextDueAt, until: following ?? now, reason },
  });
  if (isBusy && overlap === 'skip') return skipAll('overlap');
  if (room <= 0) return skipAll('backlog');

  // With overlap `skip` or a unique key, one job is enough: the others would be skipped because of it.
  const isSingle = overlap === 'skip' || (unique !== null && overlap !== 'wait');
  const limit = misfire === 'all' && !isSingle ? job.misfireLimit : 1;
  const latest = schedule.latest(Math.min(limit, room), nextDueAt, now);
  const due = latest.length > 0 ? latest : [nextDueAt]; // `latest` can be empty if the time zone's rules have changed
  const [first = nextDueAt, second] = due;
  const last = due.at(-1) ?? first;
  if (misfire === 'skip' && now.getTime() - last.getTime() > misfireThresholdMs) return skipAll('misfire');
  return {
    dueTimes: overlap === 'wait' ? [first] : due,
    nextDueAt: overlap === 'wait' ? (second ?? following) : following,
    skipped: first > nextDueAt ? { from: nextDueAt, until: first, reason: 'misfire' } : null,
  };
}

/**
 * Returns what to do about a due recurring job if another job holds its unique key: no job is enqueued, and all of its due
 * times until the next one count as missed.
 *
 * @param firing what to do if the key is free
 */
export function withoutDuplicate(firing: Firing, nextDueAt: Date, now: Date): Firing {
  const skipped = { from: nextDueAt, until: firing.nextDueAt ?? now, reason: 'duplicate' } as const;
  return { ...firing, dueTimes: [], skipped };
}

/** Returns how many more jobs a recurring job may enqueue while its queue has this backlog. */
export function roomFor({ maxBacklog }: Pick<RecurringJob, 'maxBacklog'>, backlog: number): number {
  return maxBacklog === null ? Infinity : Math.max(0, maxBacklog - backlog);
}

/**
 * Builds a job to enqueue for a recurring job. The job is ready immediately. If another job holds its unique key, it is not
 * created, and the call does not throw, even with `onConflict` `reject`.
 *
 * @param now the time to encode in the job's id, by the storage's clock
 */
export function buildRecurringRun(job: Omit<NewRecurringJob, 'args'>, args: JsonText, now: Date): NewJob {
  const { id, name, version, queue, priority, maxAttempts, timeoutMs, tags, concurrency } = job;
  const unique = job.unique === null ? null : toUniqueness(job.unique);
  return {
    id: newId(now.getTime()),
    name,
    queue,
    priority,
    args,
    maxAttempts,
    due: null,
    meta: {
      recurringJobId: id,
      ...(timeoutMs !== null && { timeoutMs }),
      ...(unique !== null && { unique }),
      ...(version > 1 && { version }),
      ...(tags.length > 0 && { tags }),
      ...(concurrency !== null && concurrencyMeta(concurrency)),
    },
    keys: unique === null ? null : [withoutRejection(uniqueKey(name, unique))],
  };
}

function withoutRejection(key: JobKey): JobKey {
  return key.onConflict === 'reject' ? { ...key, onConflict: 'keep' } : key;
}
