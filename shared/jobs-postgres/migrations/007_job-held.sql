-- Up Migration
-- Part of the first release: the tables are empty when this runs, so their indexes may be made outright (CONTRIBUTING.md).

-- Ready jobs with a concurrency key that wait until fewer jobs of their key are in `job`, where ready and running ones are.
-- So a claim looks at no key, and a tenant with ten thousand jobs never stands before one with a single job (docs/adr/004).
create table job_held (
  queue_id integer not null,
  id uuid not null,
  seq bigint not null default nextval('job_seq'),
  created_at timestamptz not null default now(),
  run_at timestamptz,
  priority smallint not null default 0,
  attempt smallint not null default 0,
  max_attempts smallint not null,
  name text not null,
  args jsonb not null,
  past_attempts jsonb,
  meta jsonb,
  primary key (queue_id, id)
) with (
  autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);

create index job_held_line on job_held (queue_id, (meta ->> 'concurrencyKey'), priority, seq);

create index job_held_batch on job_held (queue_id, (meta ->> 'batchId')) where meta ? 'batchId';

-- Counts the jobs of a key. No plain job is in it, and a claim does not write it, for it changes no meta.
create index job_key on job (queue_id, (meta ->> 'concurrencyKey')) where meta ? 'concurrencyKey';

-- Ballast for the planner, as in `job` (docs/adr/003).
insert into job_held (queue_id, id, name, priority, max_attempts, args)
select -number, longshore.new_id(), 'ballast', 32767, 1, '{}' from generate_series(1, 500) as number;

alter table job_held alter column queue_id set (n_distinct = 1);

analyze job_held;
analyze job;
