import type { ClaimedJob, Outcome } from '../job/job.js';
import type { Logger } from './logger.js';

/** Logs a failed attempt. Logs a warning if the job will be retried, otherwise an error. Ignores other outcomes. */
export function logFailure(
  logger: Logger,
  { name, claim, maxAttempts }: ClaimedJob,
  outcome: Outcome | null,
): void {
  if (outcome?.kind !== 'retry' && outcome?.kind !== 'failed') return;
  const { jobId: id, queue, attempt } = claim;
  const fields = { job: { id, name, queue, attempt, maxAttempts }, err: outcome.error };
  if (outcome.kind === 'retry')
    logger.warn(
      { ...fields, retryInMs: Math.round(outcome.delayMs) },
      `job ${name} failed and will be retried`,
    );
  else logger.error(fields, `job ${name} failed for good`);
}
