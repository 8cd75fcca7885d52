import { isFinished, jobStates } from '@longshore/jobs/storage';

const unfinished = jobStates
  .filter((state) => !isFinished(state))
  .map((state) => `'${state}'`)
  .join(', ');

/**
 * Condition on `longshore.queue`: the queue has unfinished jobs. The subquery does not depend on the queue, so Postgres
 * reads the counters only once per statement.
 */
export const holdsJobs = `queue.id in (
      select queue_id from longshore.job_count where state in (${unfinished}) group by queue_id having sum(jobs) > 0
    )`;

/** Condition on `longshore.queue`: a registered server processes the jobs of the queue. */
export const isServed = `queue.name in (select unnest(server.queues) from longshore.server)`;

/**
 * Condition on `longshore.queue`: the queue has not been retired, or is in use again. Enqueuing does not check whether
 * a queue has been retired, because the check would cost time. A queue with unfinished jobs is therefore shown even if
 * its row says that it is retired.
 */
export const isShown = `(queue.retired_at is null or ${holdsJobs} or ${isServed})`;
