-- What handlers did: a row for each time.
create table ledger.effect (
  id bigint generated always as identity primary key,
  job_id uuid not null,
  name text not null,
  attempt integer not null,
  at timestamptz not null default clock_timestamp(),
  -- How many jobs of its key there were at once, and how many there may be.
  together integer,
  allowed integer
);

create index on ledger.effect (job_id);

-- What enqueuers wrote in the transaction that enqueued the job.
create table ledger.request (job_id uuid primary key);
