import { type FinishedState, finishedStates } from '@longshore/jobs';
import { prepared, type Statement, unprepared } from '../connection/statement.js';

// Which days exist and which have passed their retention is decided here, by the database's clock: that of a server may be
// off by a year.

/** A table that is partitioned by day. `job_report`: what attempts said of themselves. */
export type History = `job_done_${FinishedState}` | 'job_report';

export interface MissingDay {
  history: History;
  /** `2026-01-31` */
  day: string;
}

const histories: readonly History[] = [
  'job_done_done',
  'job_done_failed',
  'job_done_cancelled',
  'job_report',
];

/** What partitions a history: the time that a row is kept by. */
const timeOf = (history: History): string => (history === 'job_report' ? 'started_at' : 'finished_at');

/** Returns the state whose jobs a history holds; `null` for reports. */
function stateOf(history: History): FinishedState | null {
  return finishedStates.find((state) => history === `job_done_${state}`) ?? null;
}

const dayOf = (time: string): string => `(${time} at time zone 'UTC')::date`;

/** Whether anything has gone to a default partition. */
export const haveStrays = prepared(
  'longshore-have-strays',
  `select ${histories.map((history) => `exists (select from longshore.${history}_other)`).join(' or ')} as strays`,
);

/** $1 days ahead. The days without a partition: from yesterday on, and any other of which there are rows. */
export const selectMissingDays = unprepared(
  'longshore-select-missing-days',
  `
    select history, to_char(day, 'YYYY-MM-DD') as day
    from (
      select history, ${dayOf('now()')} + ahead as day
      from unnest(array[${histories.map((history) => `'${history}'`).join(', ')}]) as history, generate_series(-1, $1::integer) as ahead
      ${histories
        .map(
          (history) =>
            `union select '${history}', ${dayOf(timeOf(history))} from longshore.${history}_other group by 2`,
        )
        .join('\n      ')}
    ) as wanted
    where to_regclass(format('longshore.%I', history || '_' || to_char(day, 'YYYYMMDD'))) is null
    order by day, history`,
);

/** $1 history, $2 day. */
export const makeDay = unprepared(
  'longshore-make-day',
  'select longshore.make_history_day($1, $2::date) as made',
);

/** A day that may be dropped. */
export interface ExpiredDay {
  /** The name of its partition. */
  part: string;
  history: History;
  /** `null`: not of jobs. */
  state: FinishedState | null;
  /** Its rows are in the default partition. */
  stray: boolean;
}

/** The days of history and when each has passed its retention. $1 done, $2 failed, $3 cancelled, $4 reports: days to keep. */
const kept = `
    kept (history, state, days) as (
      values ('job_done_done', 'done', $1::integer), ('job_done_failed', 'failed', $2::integer),
        ('job_done_cancelled', 'cancelled', $3::integer), ('job_report', null, $4::integer)
    ),
    stored as (
      select kept.*, false as stray, to_date(right(part.relname, 8), 'YYYYMMDD') as day
      from kept
      join pg_catalog.pg_inherits on inhparent = ('longshore.' || history)::regclass
      join pg_catalog.pg_class as part on part.oid = inhrelid
      where part.relname ~ ('^' || history || '_[0-9]{8}$')
      ${histories
        .map(
          (history) => `union all
      select kept.*, true, strays.day
      from kept, (select ${dayOf(timeOf(history))} as day from longshore.${history}_other group by 1) as strays
      where history = '${history}'`,
        )
        .join('\n      ')}
    ),
    day as (
      select history || '_' || to_char(day, 'YYYYMMDD') as part, history, state, stray,
        (day + 1 + days)::timestamp at time zone 'UTC' as expires_at
      from stored
    )`;

/**
 * Notes the days that have passed their retention or will within a day. A note from the future was made while the clock was
 * wrong.
 */
export const noteExpiring = unprepared(
  'longshore-note-expiring',
  `
    with ${kept},
    forgotten as (delete from longshore.expiring_day where seen_at > now() or part not in (select part from day))
    insert into longshore.expiring_day (part)
    select part from day where expires_at <= now() + interval '24 hours' order by part
    on conflict do nothing`,
);

/**
 * A day that has passed its retention is dropped if that was foreseen so long ago: if the database's clock has jumped ahead by
 * days, somebody has this long to set it right.
 */
const foreseen = `interval '20 hours'`;

export const selectExpired = unprepared(
  'longshore-select-expired',
  `
    with ${kept}
    select part, history, state, stray from day join longshore.expiring_day using (part)
    where expires_at <= now() and seen_at <= now() - ${foreseen}
    order by part`,
);

/** One at a time changes the set of partitions; the same lock as that of make_history_day(). */
export const onlyDropper = unprepared(
  'longshore-only-dropper',
  `select pg_advisory_xact_lock('longshore.job_done'::regclass::oid::bigint)`,
);

// The names come from the catalogue and match the pattern above, so they need no quoting.

/** Nobody may delete single jobs of it between the count and the end. */
export const lockPartition = (name: string): string => `lock table longshore.${name} in share mode`;

/** $1 state. */
export const countOff = (name: string): string => `
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, $1::longshore.job_state, -count(*) from longshore.${name} group by queue_id`;

export const dropPartition = (name: string): string => `drop table longshore.${name}`;

/** $1 the day as in a partition's name. Some rows of it at a time, so that nobody waits for them long; answers with their number. */
export const deleteStrays = Object.fromEntries(
  histories.map((history) => [history, deleteStraysOf(history)]),
) as Readonly<Record<History, Statement>>;

function deleteStraysOf(history: History): Statement {
  const state = stateOf(history);
  const counted = `
    , counted as (
      insert into longshore.job_count (queue_id, state, jobs)
      select queue_id, '${state}', -count(*) from gone group by queue_id
    )`;
  return unprepared(
    `longshore-delete-strays-${history}`,
    `
    with gone as (
      delete from longshore.${history}_other
      where ctid = any (array(
        select ctid from longshore.${history}_other
        where ${dayOf(timeOf(history))} = to_date($1, 'YYYYMMDD') limit 5000
      ))
      returning queue_id
    )${state === null ? '' : counted}
    select count(*)::integer as rows from gone`,
  );
}
