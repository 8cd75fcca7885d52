import type { Job } from '@longshore/jobs';
import { type Attempt, isFinished } from '@longshore/jobs/storage';

/** A period in which a job waited or one of its attempts ran. */
export interface Stretch {
  readonly kind: 'wait' | 'run';
  /** The attempt that ran; `null` if the job waited. */
  readonly attempt: Attempt | null;
  readonly from: Date;
  /** `null` if the period has not ended. */
  readonly until: Date | null;
}

/**
 * Returns the periods in which a job waited or ran, oldest first and without gaps, from its creation until it finished,
 * or until now. Waits of zero length are omitted.
 */
export function timeline(job: Job, attempts: readonly Attempt[]): Stretch[] {
  const stretches: Stretch[] = [];
  let waitingSince: Date | null = job.createdAt;
  for (const attempt of attempts) {
    if (waitingSince !== null && attempt.startedAt > waitingSince) {
      stretches.push({ kind: 'wait', attempt: null, from: waitingSince, until: attempt.startedAt });
    }
    stretches.push({ kind: 'run', attempt, from: attempt.startedAt, until: attempt.finishedAt });
    waitingSince = attempt.finishedAt;
  }
  if (waitingSince === null) return stretches;
  if (!isFinished(job.state))
    stretches.push({ kind: 'wait', attempt: null, from: waitingSince, until: null });
  else if (job.finishedAt !== null && job.finishedAt > waitingSince) {
    stretches.push({ kind: 'wait', attempt: null, from: waitingSince, until: job.finishedAt });
  }
  return stretches;
}

function lengthMs({ from, until }: Stretch, nowMs: number): number {
  return Math.max(0, (until?.getTime() ?? nowMs) - from.getTime());
}

export function totalMs(stretches: readonly Stretch[], kind: Stretch['kind'], nowMs: number): number {
  return stretches
    .filter((stretch) => stretch.kind === kind)
    .reduce((sum, stretch) => sum + lengthMs(stretch, nowMs), 0);
}
