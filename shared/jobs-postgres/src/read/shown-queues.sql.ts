import { isFinished, jobStates } from '@longshore/jobs';

const unfinished = jobStates
  .filter((state) => !isFinished(state))
  .map((state) => `'${state}'`)
  .join(', ');

/** Of `longshore.queue`. Hashed once a statement, and only if it comes to it: the counters are a small table. */
export const holdsJobs = `queue.id in (
      select queue_id from longshore.job_count where state in (${unfinished}) group by queue_id having sum(jobs) > 0
    )`;

/** Of `longshore.queue`. */
export const isServed = `queue.name in (select unnest(server.queues) from longshore.server)`;

/**
 * Of `longshore.queue`: neither deleted nor retired, or in use again. Those that enqueue do not look whether the queue has been
 * retired, so that enqueuing costs nothing for it; a queue that holds jobs is shown whatever its row says.
 */
export const isShown = `(queue.retired_at is null or ${holdsJobs} or ${isServed})`;
