/** Of a job that has not finished. */
export const lastError = `past_attempts -> -1 -> 'error'`;

export const waiting = (
  state: 'scheduled' | 'awaiting',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

export const ready = (
  state: 'enqueued' | 'processing',
): string => `id, queue_id, '${state}'::longshore.job_state as state, name,
  priority, args, null::jsonb as result, ${lastError} as error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, null::timestamptz as finished_at, server_id, meta, past_attempts`;

export const held = `id, queue_id, 'enqueued'::longshore.job_state as state, name, priority, args, null::jsonb as result,
  ${lastError} as error, attempt, max_attempts, created_at, run_at, null::timestamptz as ready_at,
  null::timestamptz as started_at, null::timestamptz as finished_at, null::uuid as server_id, meta, past_attempts`;

export const finished = `id, queue_id, state, name, priority, args, result, error, attempt, max_attempts, created_at, run_at,
  ready_at, started_at, finished_at, server_id, meta, past_attempts`;

/**
 * Running jobs stand near the head of the line and their number is known, so the search ends with the last of them.
 * For use where `queue` is a row of the queues.
 */
export const running = `
  select * from longshore.job where queue_id = queue.id and server_id is not null
  order by priority, seq
  limit (select coalesce(sum(jobs), 0) from longshore.job_count where queue_id = queue.id and state = 'processing')`;
