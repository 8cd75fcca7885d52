import { isFinished, type Job, type RecurringJob } from '@longshore/jobs';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/** A server enqueues what is due within a second or so; so many milliseconds later nothing does. */
const LATE_MS = 60_000;

/** Those that were due long ago, the one that was due first before the others. */
export function lateAmong(jobs: readonly RecurringJob[], nowMs: number): RecurringJob[] {
  const due = ({ nextDueAt }: RecurringJob): number => nextDueAt?.getTime() ?? Infinity;
  return jobs
    .filter((job) => job.pausedAt === null && nowMs - due(job) > LATE_MS)
    .toSorted((one, other) => due(one) - due(other));
}

/** Without those that are to wait for their last job. @param last the last jobs of those that do, as far as they are kept */
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
      advice:
        'Servers enqueue what is due as long as they can write. Their logs tell what keeps them from it.',
      link: late.length === 1 ? `recurring/${encodeURIComponent(first.id)}` : 'recurring',
    },
  ];
}
