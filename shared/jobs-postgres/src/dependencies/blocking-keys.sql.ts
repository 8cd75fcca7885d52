import { prepared } from '../connection/statement.js';
import { limitOf } from './concurrency-keys.sql.js';

/** Maximum number of keys to list. */
export const maxKeys = 200;
/** Maximum number of keys with details: the limit, how long jobs have been blocked, and the ready and running jobs. */
const maxDescribed = 20;
/** Maximum number of blocked jobs to count across all keys. */
const maxCounted = 20_000;
/** Maximum number of ready and running jobs to show for each key. */
const maxHolders = 10;

export interface BlockingKeyRow {
  queue_id: number;
  key: string;
  /** Number of blocked jobs; `most` + 1 if there are more than `most`. */
  blocked: number;
  /** The blocked jobs of each key are counted exactly up to this number. */
  most: number;
  /** Concurrency limit of the first blocked job. This and the following members are null for keys without details. */
  allowed: number | null;
  /** When the first blocked job was due. */
  since: Date | null;
  /** Up to `maxHolders` ready and running jobs with the key, running jobs first. Also null if there are none. */
  holders: { id: string; name: string; startedAt: string | null }[] | null;
}

const keyOf = `meta ->> 'concurrencyKey'`;

/**
 * $1 first queue, $2 last queue. Counts the blocked jobs of each key, and returns details of the keys with the most
 * blocked jobs. Every key is counted up to the same number, so that a key with many jobs does not hide the others.
 */
export const selectBlockingKeys = prepared(
  'longshore-select-blocking-keys',
  `
    with recursive wanted as (
      (
        select queue_id, ${keyOf} as key, 1 as steps from longshore.job_blocked
        where queue_id between greatest($1::integer, 1) and $2::integer order by queue_id, ${keyOf} limit 1
      )
      union all
      select next.queue_id, next.key, wanted.steps + 1
      from wanted cross join lateral (
        select queue_id, ${keyOf} as key from longshore.job_blocked
        where (queue_id, ${keyOf}) > (wanted.queue_id, wanted.key) and queue_id <= $2::integer
        order by queue_id, ${keyOf} limit 1
      ) as next
      where wanted.steps < ${maxKeys}
    ),
    sized as materialized (select queue_id, key, ${maxCounted} / count(*) over () as most from wanted),
    counted as materialized (
      select sized.*, blocked, row_number() over (order by blocked desc, queue_id, key) as rank
      from sized cross join lateral (
        select count(*)::integer as blocked from (
          select 1 from longshore.job_blocked where queue_id = sized.queue_id and ${keyOf} = sized.key limit sized.most + 1
        ) as seen
      ) as size
    )
    select counted.queue_id, counted.key, counted.blocked, counted.most::integer, first.allowed, first.since, held.holders
    from counted
    left join lateral (
      select ${limitOf} as allowed, due_at as since from longshore.job_blocked
      where counted.rank <= ${maxDescribed} and queue_id = counted.queue_id and ${keyOf} = counted.key
      order by priority, seq limit 1
    ) as first on true
    left join lateral (
      select jsonb_agg(
          jsonb_build_object('id', id, 'name', name, 'startedAt', case when server_id is not null then started_at end)
          order by server_id is null, started_at
        ) as holders
      from (
        select id, name, server_id, started_at from longshore.job
        where counted.rank <= ${maxDescribed} and queue_id = counted.queue_id
          and meta ? 'concurrencyKey' and ${keyOf} = counted.key
        limit ${maxHolders}
      ) as holder
    ) as held on true
    order by counted.rank`,
  `
    with counted as materialized (
      select queue_id, ${keyOf} as key, count(*)::integer as blocked, min(priority) as priority from longshore.job_blocked
      where queue_id between greatest($1::integer, 1) and $2::integer
      group by queue_id, ${keyOf} order by blocked desc, queue_id, key limit ${maxKeys}
    ),
    sized as materialized (
      select counted.*, 20000 / count(*) over () as most, row_number() over (order by blocked desc, queue_id, key) as rank from counted
    ),
    described as materialized (select queue_id, key from sized where rank <= 20),
    first as materialized (
      select distinct on (job.queue_id, job.${keyOf}) job.queue_id, job.${keyOf} as key, ${limitOf} as allowed,
        due_at as since
      from longshore.job_blocked as job join described on described.queue_id = job.queue_id and described.key = job.${keyOf}
      order by job.queue_id, job.${keyOf}, priority, seq
    ),
    held as materialized (
      select queue_id, key, jsonb_agg(
          jsonb_build_object('id', id, 'name', name, 'startedAt', case when server_id is not null then started_at end)
          order by server_id is null, started_at
        ) filter (where place <= 10) as holders
      from (
        select job.queue_id, job.${keyOf} as key, id, name, server_id, started_at,
          row_number() over (partition by job.queue_id, job.${keyOf}) as place
        from longshore.job join described on described.queue_id = job.queue_id and described.key = job.${keyOf}
        where job.meta ? 'concurrencyKey'
      ) as holder
      group by queue_id, key
    )
    select sized.queue_id, sized.key, least(sized.blocked, sized.most + 1)::integer as blocked, sized.most::integer, first.allowed,
      first.since, held.holders
    from sized
    left join first on first.queue_id = sized.queue_id and first.key = sized.key
    left join held on held.queue_id = sized.queue_id and held.key = sized.key
    order by sized.rank`,
);
