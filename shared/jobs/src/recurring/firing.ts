import { concurrencyMeta } from '../job/concurrency.js';
import { newId } from '../job/id.js';
import type { JsonText, NewJob } from '../job/job.js';
import type { NewRecurringJob, RecurringJob } from './recurring-job.js';
import { Schedule } from './schedule.js';

/** A due time counts as missed if it is handled more than this many milliseconds late. */
const misfireThresholdMs = 60_000;

/** A span of due times without a job, from `from` (inclusive) to `until` (exclusive). */
export interface SkippedDueTimes {
  readonly from: Date;
  readonly until: Date;
  /**
   * `misfire`: no server handled these due times on time. `overlap`: the previous job had not finished. `backlog`: the
   * queue had as large a backlog as the recurring job allows.
   */
  readonly reason: 'misfire' | 'overlap' | 'backlog';
}

/** What to do about a due recurring job. */
export interface Firing {
  /** One job is enqueued for each of these due times. */
  readonly dueTimes: readonly Date[];
  /** When the recurring job is next due; `null` if the cron expression matches no further time. */
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
  job: Pick<RecurringJob, 'cron' | 'timeZone' | 'misfire' | 'misfireLimit' | 'overlap'>,
  nextDueAt: Date,
  now: Date,
  isBusy: boolean,
  room = Infinity,
): Firing | null {
  const { misfire, overlap } = job;
  if (isBusy && overlap === 'wait') return null;
  const schedule = new Schedule(job.cron, job.timeZone);
  const following = schedule.next(now);
  const skipAll = (reason: SkippedDueTimes['reason']): Firing => ({
    dueTimes: [],
    nextDueAt: following,
    skipped: { from: nextDueAt, until: following ?? now, reason },
  });
  if (isBusy && overlap === 'skip') return skipAll('overlap');
  if (room <= 0) return skipAll('backlog');

  // With overlap `skip`, one job is enough: the others would be skipped while that job is unfinished.
  const limit = misfire === 'all' && overlap !== 'skip' ? job.misfireLimit : 1;
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

/** Returns how many more jobs a recurring job may enqueue while its queue has this backlog. */
export function roomFor({ maxBacklog }: Pick<RecurringJob, 'maxBacklog'>, backlog: number): number {
  return maxBacklog === null ? Infinity : Math.max(0, maxBacklog - backlog);
}

/**
 * Builds a job to enqueue for a recurring job. The job is ready immediately.
 *
 * @param now the time to encode in the job's id, by the storage's clock
 */
export function buildRecurringRun(
  { id, name, queue, priority, maxAttempts, tags, concurrency }: Omit<NewRecurringJob, 'args'>,
  args: JsonText,
  now: Date,
): NewJob {
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
      ...(tags.length > 0 && { tags }),
      ...(concurrency !== null && concurrencyMeta(concurrency)),
    },
  };
}
