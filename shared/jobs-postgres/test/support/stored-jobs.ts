import { skippedErrorName } from '@longshore/jobs/storage';
import { searchedId as id, searchedTime } from './built-queries.js';

/** Jobs that {@link stored} stores: one in each table, and one that does not exist. */
export const ids = [1, 2, 3, 4, 5, 6, 7, 9].map((place) => `01890000-0000-7000-8000-000000000${place}13`);
export const [running = '', , , , , failed = ''] = ids;

/**
 * Stores 24 jobs in each table, with ids on both sides of {@link id}: of three queues, two names, and with all that the
 * searches filter by. Because of a failed job, a job in each of two queues has been skipped; because of the one in the
 * queue `mail`, another one in `files`.
 */
export const stored = `
  insert into longshore.queue (id, name) select n, (array['mail', 'files', 'other'])[n] from generate_series(1, 3) as n;
  insert into longshore.queue_node (queue_id) select n from generate_series(1, 3) as n;
  create temporary view made as
  select 1 + n % 3 as queue_id, 'work' || repeat('-2', n % 2) as name, n % 4 as priority, 1 + n % 2 as attempt, 10 as max_attempts,
    '${searchedTime.toISOString()}'::timestamptz + (n - 12) * interval '1 minute' as at,
    jsonb_build_object('customer', jsonb_build_object('id', 7 + n % 2), 'note', 'two words') as args,
    jsonb_build_object('tags', array['blue'], 'concurrencyKey', (array['one', 'two'])[1 + n % 2], 'concurrencyLimit', 1,
      'recurringJobId', 'nightly', 'batchId', '${id}', 'correlate', 'order:' || n % 2) as meta,
    jsonb_build_object('name', 'TimeoutError', 'message', 'timeout ' || repeat('again ', n % 2), 'stack', null) as error, n
  from generate_series(1, 24) as n;
  create function pg_temp.id_in(place integer, n integer) returns uuid language sql as
  $$ select ('0189' || (case when n % 5 = 0 then '1' else '0' end) || '000-0000-7000-8000-000000000' || place || lpad(n::text, 2, '0'))::uuid $$;
  insert into longshore.job (queue_id, id, created_at, ready_at, run_at, priority, attempt, max_attempts, name, args, meta, started_at,
    server_id, lease_until, past_attempts)
  select queue_id, pg_temp.id_in(1, n), at, at, at, priority, attempt, max_attempts, name, args, meta, case when n > 12 then at end,
    case when n > 12 then '${id}'::uuid end, case when n > 12 then now() - interval '1 hour' end,
    jsonb_build_array(jsonb_build_object('attempt', 1, 'outcome', 'failed', 'error', error)) from made;
  insert into longshore.job_blocked (queue_id, id, created_at, priority, attempt, max_attempts, name, args, meta)
  select queue_id, pg_temp.id_in(2, n), at, priority, 0, max_attempts, name, args, meta from made;
  insert into longshore.job_blocked (queue_id, id, max_attempts, name, args, meta)
  values (3, pg_temp.id_in(9, 1), 1, 'work', '{}', '{"concurrencyKey": "free", "concurrencyLimit": 2}');
  insert into longshore.job_scheduled (queue_id, id, created_at, run_at, retried_at, priority, attempt, max_attempts, name, args, meta,
    past_attempts)
  select queue_id, pg_temp.id_in(3, n), at, at, at, priority, attempt, max_attempts, name, args, meta,
    jsonb_build_array(jsonb_build_object('attempt', attempt, 'outcome', 'failed', 'serverId', '${id}', 'error', error)) from made;
  insert into longshore.job_awaiting (queue_id, id, created_at, delay_ms, priority, attempt, max_attempts, name, args, meta)
  select queue_id, pg_temp.id_in(4, n), at, 1000, priority, 0, max_attempts, name, args, meta from made;
  insert into longshore.job_history_done (queue_id, id, created_at, started_at, finished_at, server_id, priority, attempt,
    max_attempts, name, args, meta, result)
  select queue_id, pg_temp.id_in(5, n), at, at, at, '${id}', priority, attempt, max_attempts, name, args, meta, to_jsonb(n) from made;
  insert into longshore.job_history_failed (queue_id, id, created_at, started_at, finished_at, server_id, priority, attempt,
    max_attempts, name, args, meta, error)
  select queue_id, pg_temp.id_in(6, n), at, at, at, '${id}', priority, attempt, max_attempts, name, args, meta, error from made;
  insert into longshore.job_history_cancelled (queue_id, id, created_at, finished_at, priority, attempt, max_attempts, name, args, meta,
    error)
  select queue_id, pg_temp.id_in(7, n), at, at, priority, attempt, max_attempts, name, args, meta, error from made;
  insert into longshore.job_history_cancelled (queue_id, id, created_at, priority, attempt, max_attempts, name, args, error)
  select 1 + n % 2, pg_temp.id_in(8, n), now(), 0, 0, 1, 'work', '{}', jsonb_build_object('name', '${skippedErrorName}')
  from generate_series(1, 3) as n;
  insert into longshore.job_dependency (parent_id, child_id, queue_id, condition, marked)
  values ('${failed}', pg_temp.id_in(8, 1), 2, 'onDone', true), ('${failed}', pg_temp.id_in(8, 2), 1, 'onDone', true),
    (pg_temp.id_in(8, 2), pg_temp.id_in(8, 3), 2, 'onDone', false);
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, unnest(array['enqueued', 'processing']::longshore.job_state[]), 4 from generate_series(1, 3) as queue_id;
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, percent, message)
  select queue_id, id, started_at, 0, attempt, started_at, 50, 'half' from longshore.job where server_id is not null;
  insert into longshore.job_report (queue_id, job_id, started_at, line, attempt, at, message)
  select queue_id, id, started_at, line, attempt, started_at + line * interval '1 second', 'line ' || line
  from longshore.job, generate_series(1, 2) as line where server_id is not null;
  insert into longshore.job_cancellation (queue_id, job_id, reason)
  select queue_id, id, 'late' from longshore.job where server_id is not null order by id limit 3;
  insert into longshore.job_step (queue_id, job_id, name, kind, state, position, is_remembered, attempts, job_attempt, server_id, started_at)
  select queue_id, id, 'charge', 'step', 'done', 1, true, 1, attempt, server_id, started_at from longshore.job where server_id is not null;
  insert into longshore.job_signal (queue_id, job_id, name, id, data, at)
  select queue_id, id, 'packed', 'one', '7', started_at from longshore.job where server_id is not null;
  insert into longshore.server (id, host, pid, queues, concurrency, timeout_ms) values ('${id}', 'here', 1, '{mail}', 5, 1000);
  insert into longshore.recurring_job (id, name, args, queue, priority, max_attempts, cron, time_zone, misfire, misfire_limit, overlap,
    next_due_at, last_job_id)
  select due.id, 'work', '{}', 'mail', 0, 1, '* * * * *', 'UTC', 'once', 1, 'wait', now() - interval '1 minute', last_job_id
  from (values ('busy', '${running}'::uuid), ('idle', '${failed}'), ('new', null)) as due (id, last_job_id);
  insert into longshore.queue (id, name, retired_at, idle_since) values (4, 'empty', null, now() - interval '1 year'), (5, 'back', now(), null);
  insert into longshore.job_count (queue_id, state, jobs) values (5, 'enqueued', 1), (1, 'done', 1), (1, 'done', 2);
  insert into longshore.paused_type (name, paused_until) values ('work-2', null), ('work-3', now() - interval '1 minute');
  insert into longshore.outbox (queue_id, job_id, from_state, to_state, meta)
  select n, '${id}', 'processing', 'done', '{}' from generate_series(1, 2) as n;
  insert into longshore.job_key (queue_id, namespace, key, job_id, states, expires_at, fingerprint)
  values (2, 'names', 'gone', '${id}', '{enqueued}', null, 'a'), (2, 'names', 'held', '${running}', '{processing}', null, 'b');
  insert into longshore.moved_job (job_id, queue_id) values ('${id}', 2), ('${running}', 2)`;
