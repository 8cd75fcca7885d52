-- Up Migration

-- Adds two histograms of durations. The first element of a histogram is the number of its first bucket; the others are
-- the counts of this bucket and the following ones. '{}' is an empty histogram.
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

-- Attempts and ready jobs per minute and per hour, by queue (0 for all queues together) and job name ('' for all names
-- together). Servers add their recorded figures every few seconds (docs/adr/030).
create table timing (
  queue_id integer not null,
  name text collate "C" not null,
  -- The length of the interval: 60 or 3600.
  seconds smallint not null,
  at timestamptz not null,
  done integer not null default 0,
  failed integer not null default 0,
  retried integer not null default 0,
  waiting integer[] not null default '{}',
  running integer[] not null default '{}',
  waited_ms double precision not null default 0,
  ran_ms double precision not null default 0,
  -- The largest measured number of ready jobs; null if none was measured.
  backlog bigint,
  primary key (queue_id, name, seconds, at)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

create index timing_at on timing (queue_id, seconds, at);

-- The number of the last batch of timings that each process has stored. A process whose connection broke sends its
-- batch again, because it does not know whether the first attempt was committed. The number shows whether it was.
create table timing_writer (
  id uuid primary key,
  batch integer not null,
  written_at timestamptz not null default now()
);

-- Job names with timings of their own. The jobs of all other names are counted together.
create table timed_name (
  name text collate "C" primary key,
  seen_at timestamptz not null default now()
);
