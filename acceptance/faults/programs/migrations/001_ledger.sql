-- One row for each effect of a handler.
create table ledger.effect (
  id bigint generated always as identity primary key,
  job_id uuid not null,
  name text not null,
  attempt integer not null,
  at timestamptz not null default clock_timestamp(),
  -- `together`: number of running jobs with the same key; for the job `unique`, number of unfinished jobs.
  -- `allowed`: maximum of `together`. Both are null for jobs without a key.
  together integer,
  allowed integer
);

create index on ledger.effect (job_id);

-- Rows that enqueuers write in the transaction that enqueues the job.
create table ledger.request (job_id uuid primary key);

-- Jobs whose cancellation the API has acknowledged to an operator, and a time after that.
create table ledger.cancellation (job_id uuid primary key, acknowledged_at timestamptz not null default clock_timestamp());

-- One row for each run of a step. `transactional`: written in the transaction that stores the result of the step.
create table ledger.step_effect (
  id bigint generated always as identity primary key,
  job_id uuid not null,
  step text not null,
  transactional boolean not null,
  at timestamptz not null default clock_timestamp()
);

-- Signals that the API has acknowledged to an operator, and a time after that.
create table ledger.signal (job_id uuid primary key, acknowledged_at timestamptz not null default clock_timestamp());
