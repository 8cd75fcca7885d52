import type { Job } from '@longshore/jobs';
import { type Attempt, isFinished, type Step } from '@longshore/jobs/storage';

/** A period in which a job waited or its handler ran. */
export interface Stretch {
  readonly kind: 'wait' | 'run';
  /** The attempt that ran; `null` if the job waited, or if the handler ran until it was suspended. */
  readonly attempt: Attempt | null;
  /** What a suspended job waited for; empty if that is not known. */
  readonly waits: readonly Step[];
  readonly from: Date;
  /** `null` if the period has not ended. */
  readonly until: Date | null;
}

/**
 * Returns the periods in which a job waited or ran, oldest first and without gaps, from its creation until it finished,
 * or until now. Waits of zero length are omitted.
 *
 * @param steps what is stored of the job's steps: attempts that were suspended are not among `attempts`
 */
export function timeline(job: Job, attempts: readonly Attempt[], steps: readonly Step[]): Stretch[] {
  const stretches: Stretch[] = [];
  let waitingSince: Date | null = job.createdAt;
  for (const attempt of attempts) {
    if (waitingSince !== null) stretches.push(...waiting(waitingSince, attempt.startedAt, steps));
    stretches.push({
      kind: 'run',
      attempt,
      waits: [],
      from: attempt.startedAt,
      until: attempt.finishedAt,
    });
    waitingSince = attempt.finishedAt;
  }
  if (waitingSince === null) return stretches;
  if (!isFinished(job.state)) stretches.push(...waiting(waitingSince, null, steps));
  else if (job.finishedAt !== null) stretches.push(...waiting(waitingSince, job.finishedAt, steps));
  return stretches;
}

/** Returns the periods between two attempts: those in which the job was suspended, and those in which its handler ran. */
function waiting(from: Date, until: Date | null, steps: readonly Step[]): Stretch[] {
  const end = until?.getTime() ?? Infinity;
  const isWithin = ({ startedAt, finishedAt }: Step): boolean =>
    startedAt.getTime() < end && (finishedAt === null || finishedAt > from);
  const within = steps.filter(isWithin).toSorted((one, other) => +one.startedAt - +other.startedAt);
  const stretches: Stretch[] = [];
  const add = (kind: Stretch['kind'], to: Date | null, waits: readonly Step[] = []): void => {
    if (to === null || to > at) stretches.push({ kind, attempt: null, waits, from: at, until: to });
    if (to !== null && to > at) at = to;
  };
  let at = from;
  const suspensions = suspensionsOf(
    within.filter(({ kind }) => kind !== 'step' && kind !== 'version'),
    until,
  );
  const [first] = within;
  if (suspensions.length > 0 && first !== undefined) add('wait', first.startedAt);
  for (const { from: start, until: over, waits } of suspensions) {
    add('run', start);
    add('wait', over, waits);
    if (over === null) return stretches;
  }
  add('wait', until);
  return stretches;
}

/** Returns the periods in which at least one of these steps waited. None ends after `until`. */
function suspensionsOf(
  waits: readonly Step[],
  until: Date | null,
): Pick<Stretch, 'from' | 'until' | 'waits'>[] {
  const periods: { from: Date; until: Date | null; waits: Step[] }[] = [];
  for (const step of waits) {
    const { startedAt, finishedAt } = step;
    const over = finishedAt === null || (until !== null && finishedAt > until) ? until : finishedAt;
    const last = periods.at(-1);
    if (last === undefined || (last.until !== null && last.until <= startedAt))
      periods.push({ from: startedAt, until: over, waits: [step] });
    else {
      last.waits.push(step);
      if (over === null || (last.until !== null && over > last.until)) last.until = over;
    }
  }
  return periods;
}

function lengthMs({ from, until }: Stretch, nowMs: number): number {
  return Math.max(0, (until?.getTime() ?? nowMs) - from.getTime());
}

export function totalMs(stretches: readonly Stretch[], kind: Stretch['kind'], nowMs: number): number {
  return stretches
    .filter((stretch) => stretch.kind === kind)
    .reduce((sum, stretch) => sum + lengthMs(stretch, nowMs), 0);
}
