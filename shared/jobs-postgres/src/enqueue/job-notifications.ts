import { type NewJob, type Notification, outbox, readyJobs } from '@longshore/jobs/storage';
import { waitsForParents } from './dependent-inserts.js';
import { hasConcurrencyKey } from '../jobs/inserts.sql.js';

/**
 * Returns the notifications that new jobs require: of the queues with ready jobs, of the first due time, and of work
 * for the outbox relay if jobs wait for parents or have a concurrency key. Jobs with a concurrency key are not ready
 * before the relay has checked the key.
 *
 * @param nowMs the time of the storage's clock
 */
export function notificationsOf(jobs: readonly NewJob[], nowMs: number): Notification[] {
  const ready = new Map<string, NewJob[]>();
  let inMs = Infinity;
  let isForRelay = false;
  for (const job of jobs) {
    if (waitsForParents(job) || hasConcurrencyKey(job)) isForRelay = true;
    if (waitsForParents(job)) continue;
    if (job.due !== null)
      inMs = Math.min(inMs, 'at' in job.due ? job.due.at.getTime() - nowMs : job.due.inMs);
    else if (!hasConcurrencyKey(job)) {
      const alike = ready.get(job.queue);
      if (alike === undefined) ready.set(job.queue, [job]);
      else alike.push(job);
    }
  }
  return [
    ...Array.from(ready, ([queue, among]) => readyJobs(queue, among)),
    ...(inMs < Infinity ? [{ kind: 'due', inMs: Math.max(0, inMs) } as const] : []),
    ...(isForRelay ? [outbox] : []),
  ];
}
