-- Up Migration

-- Padding rows for the planner, in queues that do not exist (docs/adr/003). After a queue has been drained, vacuum reports empty
-- tables. Plans made from such statistics read every job of a queue instead of looking up a few by key: with 50,000 jobs, each
-- thousand completions then take 380 ms instead of 15 ms. With these rows, the statistics always favour looking up by key.

insert into job (queue_id, id, name, priority, max_attempts, args)
select -number, longshore.new_id(), 'padding', 32767, 1, '{}' from generate_series(1, 500) as number;

insert into job_blocked (queue_id, id, name, priority, max_attempts, args)
select -number, longshore.new_id(), 'padding', 32767, 1, '{}' from generate_series(1, 500) as number;

insert into job_scheduled (queue_id, id, name, max_attempts, args, run_at)
select -number, longshore.new_id(), 'padding', 1, '{}', 'infinity' from generate_series(1, 500) as number;

insert into job_awaiting (queue_id, id, name, max_attempts, args)
select -number, longshore.new_id(), 'padding', 1, '{}' from generate_series(1, 500) as number;

-- Makes the planner expect that one queue may hold almost all jobs.
alter table job alter column queue_id set (n_distinct = 1);
alter table job_blocked alter column queue_id set (n_distinct = 1);
alter table job_scheduled alter column queue_id set (n_distinct = 1);
alter table job_awaiting alter column queue_id set (n_distinct = 1);

analyze job;
analyze job_blocked;
analyze job_scheduled;
analyze job_awaiting;
