import { eventually } from '@longshore/test-support';
import type { Observer } from './observer.js';

/** Maximum number of times that a job must be retried: its failures on purpose, and attempts that faults have ended. */
const maxRounds = 20;

/**
 * Retries the failed jobs together with the jobs that depend on them, as the operators did under load, until none is
 * left.
 *
 * @throws {Error} if jobs stay unfinished or failed
 */
export async function retryFailed(apiUrl: string, observer: Observer): Promise<void> {
  for (let round = 0; round < maxRounds; round++) {
    await observer.untilDone(null);
    await observer.untilDependenciesResolved();
    const failed = await observer.query(
      `select id from longshore.job_history where state = 'failed' limit 1`,
    );
    if (failed.length === 0) return;
    await eventually(async () => {
      const response = await fetch(`${apiUrl}/api/v1/jobs/retry?state=failed`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ dependents: true }),
      });
      return response.ok;
    });
  }
  throw new Error(`After ${maxRounds} retries, jobs still fail`);
}
