import type { JobState } from '../job/state.js';
import type { TransitionReason } from '../job/transition.js';
import type { JobRecord } from './job-record.js';

/**
 * Changes a job's state and records the transition.
 *
 * @param reason why the state changes; `null` to record no transition, because only the job's content changes
 */
export function enter(
  record: JobRecord,
  state: JobState,
  reason: TransitionReason | null,
  nowMs: number,
): void {
  const last = record.transitions.at(-1);
  record.state = state;
  if (reason === null) return;
  const run = state === 'processing' ? record : last?.state === 'processing' ? last : null;
  const mayHaveError = last?.state === 'processing' || last?.state === 'awaiting';
  record.transitions.push({
    number: record.transitions.length + 1,
    state,
    reason: state === 'failed' && record.error?.name === 'AttemptLost' ? 'lost' : reason,
    at: reason === 'created' ? record.createdAt : new Date(nowMs),
    attempt: run?.attempt ?? null,
    serverId: run?.serverId ?? null,
    runAt: state === 'scheduled' ? record.runAt : null,
    error: mayHaveError && ['failed', 'cancelled', 'lost'].includes(reason) ? record.error : null,
  });
}
