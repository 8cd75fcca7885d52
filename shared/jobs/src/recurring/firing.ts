import { concurrencyMeta } from '../job/concurrency.js';
import { newId } from '../job/id.js';
import { type JsonText, type NewJob } from '../job/job.js';
import type { NewRecurringJob, RecurringJob } from './recurring-job.js';
import { Schedule } from './schedule.js';

/** Maximum delay in milliseconds; a due time that is handled later counts as missed. */
const misfireThresholdMs = 60_000;

/** A span of due times for which no job is enqueued, from `from` (inclusive) to `until` (exclusive). */
export interface SkippedDueTimes {
  readonly from: Date;
  readonly until: Date;
  /** `misfire`: no server handled the due times in time. `overlap`: the previous job was unfinished. */
  readonly reason: 'misfire' | 'overlap';
}

/** The plan for a due recurring job: which due times get a job, and when it is due next. */
export interface Firing {
  /** The due times for which a job is enqueued, one job for each. */
  readonly dueTimes: readonly Date[];
  readonly nextDueAt: Date | null;
  readonly skipped: SkippedDueTimes | null;
}

/**
 * Decides how to handle a due recurring job. Of several due times, only the latest can be on time, if it is at most a
 * minute ago; all earlier ones were missed.
 *
 * @param now by the storage's clock, not before `nextDueAt`
 * @param isBusy whether the previous job is unfinished
 * @returns `null` if the recurring job stays due until the previous job has finished
 */
export function planFiring(
  job: Pick<RecurringJob, 'cron' | 'timeZone' | 'misfire' | 'misfireLimit' | 'overlap'>,
  nextDueAt: Date,
  now: Date,
  isBusy: boolean,
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

  // With overlap `skip`, all jobs after the first would be skipped, because the first is unfinished.
  const limit = misfire === 'all' && overlap !== 'skip' ? job.misfireLimit : 1;
  const latest = schedule.latest(limit, nextDueAt, now);
  const due = latest.length > 0 ? latest : [nextDueAt]; // none are left if the time zone's rules have changed
  const [first = nextDueAt, second] = due;
  const last = due.at(-1) ?? first;
  if (misfire === 'skip' && now.getTime() - last.getTime() > misfireThresholdMs) return skipAll('misfire');
  return {
    dueTimes: overlap === 'wait' ? [first] : due,
    nextDueAt: overlap === 'wait' ? (second ?? following) : following,
    skipped: first > nextDueAt ? { from: nextDueAt, until: first, reason: 'misfire' } : null,
  };
}

/** Builds a job for a recurring job to enqueue. The new job is ready immediately. */
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
