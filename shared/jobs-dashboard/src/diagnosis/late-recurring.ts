import type { Job, RecurringJob } from '@longshore/jobs';
import { isFinished } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/**
 * Servers enqueue due jobs within about a second. A job that is overdue for longer than this, in
 * milliseconds, is late.
 */
const LATE_MS = 60_000;

/** Returns the recurring jobs that are late, the latest first. */
export function lateAmong(jobs: readonly RecurringJob[], nowMs: number): RecurringJob[] {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Infinity;
  return jobs
    .filter((job) => job.pausedAt === null && nowMs - due(job) > LATE_MS)
    .toSorted((one, other) => due(one) - due(other));
}

/**
 * Returns the recurring jobs that are late for another reason than waiting for their previous job to finish.
 *
 * @param last the previous jobs of the late recurring jobs, as far as they are still stored
 */
export function withoutReason(late: readonly RecurringJob[], last: readonly Job[]): RecurringJob[] {
  const unfinished = new Set(last.filter(({ state }) => !isFinished(state)).map(({ id }) => id));
  return late.filter(({ overlap, lastJobId }) => overlap !== 'wait' || !unfinished.has(lastJobId ?? ''));
}

export function lateRecurring(late: readonly RecurringJob[]): Warning[] {
  const [first] = late;
  if (first === undefined || first.nextDueAt === null) return [];
  const due = { at: first.nextDueAt };
  const text =
    late.length === 1
      ? sentence`Recurring job “${first.id}” is late: it was due ${due}, and no server has enqueued it.`
      : sentence`${counted(late.length, 'recurring job')} are late: the first was due ${due}, and no server has enqueued it.`;
  return [
    {
      text,
      advice: 'Check that servers can write to the storage; their logs have the cause.',
      link: late.length === 1 ? `recurring/${encodeURIComponent(first.id)}` : 'recurring',
    },
  ];
}
