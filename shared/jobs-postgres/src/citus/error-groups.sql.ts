/**
 * Extracts the condition on the days of failures, and the end of the last day, from the single-node form.
 *
 * @throws {Error} if there is no such condition
 */
function daysOf(usual: string): { days: string; end: string } {
  const [days, end] =
    /finished_at >= '[^']+'::timestamptz and finished_at < ('[^']+'::timestamptz)/.exec(usual) ?? [];
  if (days === undefined || end === undefined)
    throw new Error('A form for Citus expects the days of failures');
  return { days, end };
}

const kind = 'longshore.error_kind(error)';

/**
 * Returns CTEs with the kinds of errors in the last $1 milliseconds. For each kind, they contain the number of failures
 * in that period, the time of the last one, and the time of the first failure that is still stored. $2 maximum number
 * of kinds, $3 maximum number of kinds per name.
 */
const kindsOf = (days: string): string => `
    kind as materialized (
      select name, ${kind} as kind, count(*)::integer as jobs, max(finished_at) as last_at
      from longshore.job_history_failed
      where ${days} and finished_at >= now() - $1::float8 * interval '1 millisecond'
      group by name, ${kind}
    ),
    numbered as materialized (
      select kind.*, row_number() over (partition by name order by kind) as nth from kind
    ),
    chosen as materialized (select * from numbered where nth <= $3::integer order by name, kind limit $2::integer),
    earliest as materialized (
      select name, kind, min(first_at) as first_at from (
        select failed.name, failed.kind, failed.first_at from (
          select name, ${kind} as kind, min(finished_at) as first_at from longshore.job_history_failed
          where name in (select name from chosen) group by name, ${kind}
        ) as failed
      ) as failed group by name, kind
    )`;

/**
 * Returns the Citus form of a statement that reads error groups. The form groups all failures of the period. The
 * single-node form instead steps from kind to kind through the index.
 *
 * @param usual the single-node form
 */
export function errorGroups(usual: string): string {
  const { days } = daysOf(usual);
  return `
    with ${kindsOf(days)},
    bound as materialized (
      select greatest(100, least(2000, 10000 / greatest(large, 1) / 100 * 100)) as most, complete
      from (
        select count(*) filter (where jobs > 100) as large, count(*) < $2 and coalesce(max(nth), 0) < $3 as complete from chosen
      ) as sizes
    ),
    latest as materialized (
      select distinct on (name, kind) name, kind, id, error_name, message, last_at
      from (
        select name, ${kind} as kind, id, coalesce(error ->> 'name', '') as error_name, left(error ->> 'message', 1000) as message,
          finished_at as last_at
        from longshore.job_history_failed
        where ${days} and (name, finished_at) in (select name, last_at from chosen)
      ) as last order by name, kind, last_at desc
    )
    select chosen.name, latest.id, latest.error_name, latest.message, latest.last_at, earliest.first_at,
      case when chosen.jobs <= 100 then chosen.jobs else least(chosen.jobs, bound.most + 1) end as jobs, bound.most::integer as most,
      bound.complete
    from bound
    cross join chosen
    join latest on latest.name = chosen.name and latest.kind = chosen.kind
    join earliest on earliest.name = chosen.name and earliest.kind = chosen.kind`;
}

/**
 * Returns the Citus form of a statement that records which kinds of errors occurred. The form finds the kinds like
 * {@link errorGroups}, and records them like the single-node form.
 *
 * @param usual the single-node form
 */
export function firstFailures(usual: string): string {
  const { days } = daysOf(usual);
  const end = usual.slice(usual.indexOf('current as ('));
  return `
    with ${kindsOf(days)},
    retrying as materialized (
      select name, past_attempts -> -1 -> 'error' as error, retried_at as at from longshore.job_scheduled
      where retried_at >= now() - $1::float8 * interval '1 millisecond'
      order by retried_at desc limit $4::integer
    ),
    occurred as materialized (
      select chosen.name, chosen.kind, earliest.first_at, chosen.last_at
      from chosen join earliest on earliest.name = chosen.name and earliest.kind = chosen.kind
      union all
      select name, longshore.error_kind(error), at, at from retrying where error ->> 'message' is not null
    ),
    ${end}`;
}
