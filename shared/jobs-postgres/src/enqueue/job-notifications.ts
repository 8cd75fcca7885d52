import { type NewJob, type Notification, outbox, readyIn } from '@longshore/jobs/storage';
import { waitsForParents } from './dependent-inserts.js';
import { hasConcurrencyKey } from './inserts.sql.js';

/**
 * Returns the notifications that new jobs require: of the queues with ready jobs, of the first due time, and of work
 * for the outbox relay if jobs wait for parents or have a concurrency key.
 *
 * @param nowMs the time of the storage's clock
 */
export function notificationsOf(jobs: readonly NewJob[], nowMs: number): Notification[] {
  const queues = new Set<string>();
  let inMs = Infinity;
  let isForRelay = false;
  for (const job of jobs) {
    if (waitsForParents(job)) isForRelay = true;
    else if (job.due !== null)
      inMs = Math.min(inMs, 'at' in job.due ? job.due.at.getTime() - nowMs : job.due.inMs);
    else queues.add(job.queue);
    if (hasConcurrencyKey(job)) isForRelay = true;
  }
  return [
    ...Array.from(queues, readyIn),
    ...(inMs < Infinity ? [{ kind: 'due', inMs: Math.max(0, inMs) } as const] : []),
    ...(isForRelay ? [outbox] : []),
  ];
}
