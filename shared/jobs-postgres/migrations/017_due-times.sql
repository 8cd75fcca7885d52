-- Up Migration

-- When a job was due for its next attempt: the start of its waiting time (docs/adr/061). Null in `job` if that is when it
-- became ready, so that plain jobs do not pay for it. Jobs that are blocked now count as due now.
alter table job add column due_at timestamptz;
alter table job_blocked add column due_at timestamptz not null default now();

-- How much of the waiting time jobs were ready.
alter table timing add column ready integer[] not null default '{}';
alter table timing add column ready_ms double precision not null default 0;
