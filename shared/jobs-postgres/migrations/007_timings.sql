-- Up Migration

-- Adds two histograms of durations. The first element of a histogram is the number of its first bucket, and the others are the counts
-- from there on; '{}' is empty.
create function add_histograms(one integer[], other integer[]) returns integer[] language sql immutable parallel safe as $$
  select case
    when cardinality(one) = 0 then other
    when cardinality(other) = 0 then one
    else (
      select array[least(one[1], other[1])] || array_agg(
        case when bucket < one[1] then 0 else coalesce(one[bucket - one[1] + 2], 0) end
          + case when bucket < other[1] then 0 else coalesce(other[bucket - other[1] + 2], 0) end
        order by bucket)
      from generate_series(
        least(one[1], other[1]),
        greatest(one[1] + cardinality(one), other[1] + cardinality(other)) - 2
      ) as bucket
    )
  end
$$;

-- How attempts went and how many jobs were ready, per minute and per hour: for each queue (0 for all together) and each job name
-- ('' for all together). Servers add what they have recorded every few seconds (docs/adr/030).
create table timing (
  queue_id integer not null,
  name text collate "C" not null,
  -- 60 or 3600.
  seconds smallint not null,
  at timestamptz not null,
  done integer not null default 0,
  failed integer not null default 0,
  retried integer not null default 0,
  waiting integer[] not null default '{}',
  running integer[] not null default '{}',
  waited_ms double precision not null default 0,
  ran_ms double precision not null default 0,
  -- The largest number of ready jobs that was measured; null if none was.
  backlog bigint,
  primary key (queue_id, name, seconds, at)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index timing_at on timing (queue_id, seconds, at);

-- The job names with timings of their own. The jobs of all further names are counted together.
create table timed_name (
  name text collate "C" primary key,
  seen_at timestamptz not null default now()
);

-- The job types that are paused: no server claims their jobs. Every claim reads it, so it holds nothing else.
create table paused_type (
  name text collate "C" primary key,
  paused_at timestamptz not null default now()
);

-- When versions of applications were put into service.
create table deployment (
  id uuid primary key,
  version text not null,
  at timestamptz not null default now(),
  note text,
  source text not null check (source in ('api', 'server')),
  constraint deployment_bounds check (at >= '1970-01-01T00:00:00Z' and at < '10000-01-01T00:00:00Z')
);

create index deployment_at on deployment (at);

-- The versions of servers that have given one. Rows of servers that are gone are deleted when the next one registers.
create table server_version (
  server_id uuid primary key,
  version text not null
);
