import { concurrencyMeta } from '../job/concurrency.js';
import { newId } from '../job/id.js';
import { type JsonText, type NewJob } from '../job/job.js';
import type { NewRecurringJob, RecurringJob } from './recurring-job.js';
import { Schedule } from './schedule.js';

/** A due time that is met later than this was missed. */
const misfireThresholdMs = 60_000;

/** Due times that got no job: those from `from` on, before `until`. */
export interface PassedOver {
  readonly from: Date;
  readonly until: Date;
  /** `misfire`: nobody was there to meet them. `overlap`: the job of an earlier one was unfinished. */
  readonly reason: 'misfire' | 'overlap';
}

/** What is to be done about a recurring job that is due. */
export interface Firing {
  /** Each gets a job. */
  readonly dueTimes: readonly Date[];
  readonly nextDueAt: Date | null;
  readonly passedOver: PassedOver | null;
}

/**
 * Decides about a recurring job that is due. Of several due times the last is on time if it is no more than a minute
 * late; all the others were missed.
 *
 * @param now by the storage's clock, not before `nextDueAt`
 * @param busy the job of the last due time is unfinished
 * @returns `null` if it stays due until that job has finished
 */
export function planFiring(
  job: Pick<RecurringJob, 'cron' | 'timeZone' | 'misfire' | 'misfireLimit' | 'overlap'>,
  nextDueAt: Date,
  now: Date,
  busy: boolean,
): Firing | null {
  const { misfire, overlap } = job;
  if (busy && overlap === 'wait') return null;
  const schedule = new Schedule(job.cron, job.timeZone);
  const following = schedule.next(now);
  const none = (reason: PassedOver['reason']): Firing => ({
    dueTimes: [],
    nextDueAt: following,
    passedOver: { from: nextDueAt, until: following ?? now, reason },
  });
  if (busy && overlap === 'skip') return none('overlap');

  // With overlap `skip` the job of the first would keep all others from starting.
  const most = misfire === 'all' && overlap !== 'skip' ? job.misfireLimit : 1;
  const latest = schedule.latest(most, nextDueAt, now);
  const due = latest.length > 0 ? latest : [nextDueAt]; // rules of a time zone change with the system's updates
  const [first = nextDueAt, second] = due;
  const last = due.at(-1) ?? first;
  if (misfire === 'skip' && now.getTime() - last.getTime() > misfireThresholdMs) return none('misfire');
  return {
    dueTimes: overlap === 'wait' ? [first] : due,
    nextDueAt: overlap === 'wait' ? (second ?? following) : following,
    passedOver: first > nextDueAt ? { from: nextDueAt, until: first, reason: 'misfire' } : null,
  };
}

/** One job of a recurring job, ready at once. */
export function jobOf(
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
