import type { Database } from '../connection/database.js';
import { sqlStateOf } from '../connection/errors.js';
import { type FinishedState, finishedStates } from '@longshore/jobs/storage';
import { type Statement, unprepared } from '../connection/statement.js';

/** How many days ahead partitions are created. Covers a week in which no server runs. */
const daysAhead = 8;

/**
 * Lock timeout for creating a partition, in milliseconds. Short, because other statements queue behind a waiting lock
 * request.
 */
const lockTimeoutMs = '500';

const hourMs = 3_600_000;
const firstPauseMs = 1_000;

/** Returns whether an error means that a table is in use: a lock timeout (55P03) or a deadlock (40P01). */
export function isInUse(error: unknown): boolean {
  return ['55P03', '40P01'].includes(sqlStateOf(error));
}

/**
 * Creates the daily partitions of history ahead of time. Rows of a day without a partition go to a default partition. A
 * later run creates the partition and moves the rows there, unless there are more than 100,000.
 */
export class HistoryDays {
  readonly #database: Database;
  #madeAt = -Infinity;
  #pauseMs = firstPauseMs;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Creates missing partitions if the last run was at least an hour ago, or if a default partition has rows. While rows
   * remain, the interval between runs grows from a second to an hour.
   *
   * @param strays whether a default partition has rows
   */
  async runOnce(strays: boolean): Promise<void> {
    const agoMs = performance.now() - this.#madeAt;
    if (agoMs < this.#pauseMs) return;
    if (!strays) this.#pauseMs = firstPauseMs;
    // Rows remain after a recent run, usually because there are too many to move. The next run waits longer.
    else if (agoMs < hourMs) this.#pauseMs = Math.min(2 * this.#pauseMs, hourMs);
    if (strays || agoMs >= hourMs) await this.make();
  }

  /** Creates the missing partitions now. Skips a partition if a table is in use; the next run tries again. */
  async make(): Promise<void> {
    this.#madeAt = performance.now();
    const missing = await this.#database.query<MissingDay>(selectMissingDays, [daysAhead]);
    for (const { history, day } of missing) {
      try {
        await this.#database.transaction((client) => client.query(makeDay, [history, day]), {
          lock_timeout: lockTimeoutMs,
        });
      } catch (error) {
        if (!isInUse(error)) throw error;
      }
    }
  }
}

// The database's clock determines which days exist and which have expired, because a server's clock can be off by a
// year.

/** A table that is partitioned by day. `job_report` contains the progress, logs and recorded transitions of jobs. */
export type History = `job_history_${FinishedState}` | 'job_report';

export interface MissingDay {
  history: History;
  /** The date, such as `2026-01-31`. */
  day: string;
}

const histories: readonly History[] = [
  'job_history_done',
  'job_history_failed',
  'job_history_cancelled',
  'job_report',
];

/** Returns the column by which a history is partitioned. */
const timeOf = (history: History): string => (history === 'job_report' ? 'started_at' : 'finished_at');

/** Returns the state of the jobs that a history contains; `null` for reports. */
function stateOf(history: History): FinishedState | null {
  return finishedStates.find((state) => history === `job_history_${state}`) ?? null;
}

const dayOf = (time: string): string => `(${time} at time zone 'UTC')::date`;

/** SQL condition: at least one default partition has rows. */
export const hasStrays = `(${histories.map((history) => `exists (select 1 from longshore.${history}_default)`).join(' or ')})`;

/**
 * $1 number of days. Selects the days that need a partition and have none: the days from yesterday to $1 days ahead,
 * and the days with rows in a default partition.
 */
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
            `union select '${history}', ${dayOf(timeOf(history))} from longshore.${history}_default group by 2`,
        )
        .join('\n      ')}
    ) as wanted
    where to_regclass(format('longshore.%I', history || '_' || to_char(day, 'YYYYMMDD'))) is null
    order by day, history`,
);

/**
 * $1 history, $2 day. Creates the day's partition and moves the day's rows into it from the default partition. Returns
 * `false` if the partition already exists or there are more than 100,000 rows to move.
 */
export const makeDay = unprepared(
  'longshore-make-day',
  'select longshore.make_history_day($1, $2::date) as made',
);

/** A day whose retention has ended. */
export interface ExpiredDay {
  /** The name of the day's partition. Also set if the day has no partition (see `stray`). */
  part: string;
  history: History;
  /** `null` for reports. */
  state: FinishedState | null;
  /** Whether the day has no partition, so that its rows are in the default partition. */
  stray: boolean;
}

/**
 * CTEs that determine which days are stored and when each expires. Retention in days: $1 done, $2 failed, $3 cancelled,
 * $4 reports.
 */
const kept = `
    kept (history, state, days) as (
      values ('job_history_done', 'done', $1::integer), ('job_history_failed', 'failed', $2::integer),
        ('job_history_cancelled', 'cancelled', $3::integer), ('job_report', null, $4::integer)
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
      from kept, (select ${dayOf(timeOf(history))} as day from longshore.${history}_default group by 1) as strays
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
 * $1 to $4 as in {@link kept}. Records the days that have expired or expire within a day. Deletes records of days that
 * no longer exist. Also deletes records with a time in the future, because the clock was wrong when they were made.
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
 * Minimum time between recording that a day expires and dropping it. If the database's clock jumps ahead by days, there
 * is this much time to correct it.
 */
const minNotice = `interval '20 hours'`;

/** $1 to $4 as in {@link kept}. Selects the expired days that can be dropped. */
export const selectExpired = unprepared(
  'longshore-select-expired',
  `
    with ${kept}
    select part, history, state, stray from day join longshore.expiring_day using (part)
    where expires_at <= now() and seen_at <= now() - ${minNotice}
    order by part`,
);

/** Takes the same lock as make_history_day(), so that only one process at a time creates or drops partitions. */
export const lockPartitions = unprepared(
  'longshore-only-dropper',
  `select pg_advisory_xact_lock(longshore.lock_key('job_history'))::text`,
);

// The partition names below consist of the name of a history and a date, so they need no quoting.

/**
 * Returns a statement that locks a partition, so that none of its jobs can be deleted between the count and the drop.
 */
export const lockPartition = (name: string): string => `lock table longshore.${name} in share mode`;

/** Returns a statement that subtracts the jobs of a partition from the counters; $1 is their state. */
export const subtractFromCounters = (name: string): string => `
  insert into longshore.job_count (queue_id, state, jobs)
  select queue_id, $1::longshore.job_state, -count(*) from longshore.${name} group by queue_id`;

export const dropPartition = (name: string): string => `drop table longshore.${name}`;

/**
 * One statement for each history: $1 day as `YYYYMMDD`. Deletes rows of this day from the default partition and returns
 * their number. Deletes at most 5000 rows, so that other statements are not blocked for long.
 */
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
  // On Citus, `ctid` is not unique across nodes.
  const id = history === 'job_report' ? 'job_id' : 'id';
  const deletion = (row: string, open: string): string => `
    with gone as (
      delete from longshore.${history}_default
      where ${row} = any (array(${open}select ${row} from longshore.${history}_default
        where ${dayOf(timeOf(history))} = to_date($1, 'YYYYMMDD') limit 5000
      ))
      returning queue_id
    )${state === null ? '' : counted}
    select count(*)::integer as rows from gone`;
  return unprepared(`longshore-delete-strays-${history}`, deletion('ctid', '\n        '), deletion(id, ''));
}
