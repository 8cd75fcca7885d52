import type { Job, RecurringJob } from '@longshore/jobs';
import { isFinished } from '@longshore/jobs/storage';
import type { ReadingContext } from '../reading/dashboard-reader.js';
import { counted } from '../format/count.js';
import { sentence } from '../format/sentence.js';
import type { Warning } from './warning.js';

/**
 * A recurring job is late if it is overdue by more than this, in milliseconds. Servers normally enqueue due jobs within
 * about a second.
 */
const LATE_MS = 60_000;

type Schedule = Pick<RecurringJob, 'pausedAt' | 'nextDueAt' | 'overlap' | 'lastJobId'>;

/**
 * Returns the late recurring jobs, longest overdue first. Omits those whose `overlap` is `wait` and whose previous job
 * is unfinished.
 */
export async function findLate<Recurring extends Schedule>(
  recurring: readonly Recurring[],
  nowMs: number,
  { jobs: reader }: Pick<ReadingContext['reader'], 'jobs'>,
): Promise<Recurring[]> {
  const late = lateAmong(recurring, nowMs);
  const ids = late.flatMap(({ overlap, lastJobId }) =>
    overlap === 'wait' && lastJobId !== null ? [lastJobId] : [],
  );
  if (ids.length === 0) return late;
  return withoutReason(late, await reader.findMany(ids));
}

function lateAmong<Recurring extends Schedule>(jobs: readonly Recurring[], nowMs: number): Recurring[] {
  const due = ({ nextDueAt }: Schedule): number => nextDueAt?.getTime() ?? Infinity;
  return jobs
    .filter((job) => job.pausedAt === null && nowMs - due(job) > LATE_MS)
    .toSorted((one, other) => due(one) - due(other));
}

/**
 * Returns the late recurring jobs that are not waiting for their previous job to finish.
 *
 * @param last the previous jobs of the late recurring jobs, except any that have been removed
 */
function withoutReason<Recurring extends Schedule>(
  late: readonly Recurring[],
  last: readonly Pick<Job, 'id' | 'state'>[],
): Recurring[] {
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
      cause: 'recurring jobs are late',
      isMeasured: true,
      text,
      advice: 'Check that servers can write to the storage; their logs have the cause.',
      link: late.length === 1 ? `recurring/${encodeURIComponent(first.id)}` : 'recurring',
    },
  ];
}
