import { isFinished, jobStates } from '@longshore/jobs/storage';

const unfinished = jobStates
  .filter((state) => !isFinished(state))
  .map((state) => `'${state}'`)
  .join(', ');

/** Condition on `longshore.queue`: it holds unfinished jobs. Postgres reads the counters once per statement, if needed. */
export const holdsJobs = `queue.id in (
      select queue_id from longshore.job_count where state in (${unfinished}) group by queue_id having sum(jobs) > 0
    )`;

/** Condition on `longshore.queue`: some server takes jobs from the queue. */
export const isServed = `queue.name in (select unnest(server.queues) from longshore.server)`;

/**
 * Condition on `longshore.queue`: neither deleted nor retired, or in use again. Enqueuing does not check whether the queue
 * has been retired, so that it costs nothing there; a queue that holds jobs is shown regardless of its row.
 */
export const isShown = `(queue.retired_at is null or ${holdsJobs} or ${isServed})`;
