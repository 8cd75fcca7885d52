import type { JobState } from '@longshore/jobs';
import { type JobCount, jobStates, type StateCounts } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { RequestCoalescer } from '../connection/request-coalescer.js';
import { prepared } from '../connection/statement.js';
import { isPaused } from './pause.sql.js';

/** Maximum number of rows to count individually, for filters that the counters cannot answer. */
export const maxCounted = 10_000;

/** Caps a number of rows at {@link maxCounted}. A capped count is marked as not exact. */
export function countOf(rows: number): JobCount {
  return { count: Math.min(rows, maxCounted), exact: rows <= maxCounted };
}

/**
 * Reads the number of jobs by queue and state. Reading all counters of 1000 queues takes 10 ms, so callers request only
 * the queues and states that they need.
 */
export class PostgresCounters {
  readonly #database: Database;
  readonly #coalescer = new RequestCoalescer();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Returns the number of jobs in each state across all queues. */
  totals(): Promise<StateCounts> {
    return this.#coalescer.share('totals', async () => {
      const rows = await this.#database.query<TotalRow>(selectTotals);
      return sumByState(rows);
    });
  }

  /**
   * Returns each queue's number of jobs in each state, by queue id. Queues without jobs may be missing.
   *
   * @param queueIds the queues to include; `null` for all
   */
  byQueue(queueIds: readonly number[] | null = null): Promise<ReadonlyMap<number, StateCounts>> {
    return this.#coalescer.share(JSON.stringify(queueIds), async () => {
      const rows = await this.#database.query<CountRow>(selectCounts, [queueIds]);
      return new Map(rows.map((row) => [row.queue_id, countsIn(row)]));
    });
  }

  /**
   * Returns, for each of these states, a summary of the queues with jobs in that state. Omits states without jobs.
   *
   * @param queueIds the queues to include; `null` for all
   */
  async holding(
    states: readonly JobState[],
    queueIds: readonly number[] | null = null,
  ): Promise<ReadonlyMap<JobState, HoldingRow>> {
    if (states.length === 0) return new Map();
    return this.#coalescer.share(JSON.stringify([states, queueIds]), async () => {
      const rows = await this.#database.query<HoldingRow>(selectHolding, [states, queueIds]);
      return new Map(rows.map((row) => [row.state, row]));
    });
  }
}

const none = Object.fromEntries(jobStates.map((state) => [state, 0])) as StateCounts;

export function noCounts(): StateCounts {
  return { ...none };
}

function sumByState(rows: readonly TotalRow[]): StateCounts {
  const sums = noCounts();
  for (const { state, jobs } of rows) sums[state] += jobs;
  return sums;
}

function countsIn(row: CountRow): StateCounts {
  const counts = noCounts();
  for (const state of jobStates) counts[state] = row[state] ?? 0;
  return counts;
}

/** The number of jobs in a queue, by state; `null` for a state without counter rows. */
export type CountRow = { readonly queue_id: number } & Readonly<Record<JobState, number | null>>;

export interface TotalRow {
  readonly state: JobState;
  readonly jobs: number;
}

// The counts are exact. The cost of reading them does not depend on the number of jobs, because the statements read one
// row per queue and state, plus the changes that have not been folded yet.

/**
 * SQL expression for the sum of the counts as a floating-point number. Exact below 2^53. Faster than a sum of bigints:
 * for a thousand queues, formatting such sums took Postgres as long as the rest of the statement.
 */
const summed = 'sum(jobs::float8)';

/**
 * $1 queues, or null for all. Returns one row per queue with a column for each state. With a thousand queues, one row
 * per queue and state would take twice as long.
 */
export const selectCounts = prepared(
  'longshore-select-counts',
  `
    select queue_id, ${jobStates.map((state) => `${summed} filter (where state = '${state}') as ${state}`).join(', ')}
    from longshore.job_count where $1::integer[] is null or queue_id = any($1)
    group by queue_id`,
);

/** Summary of the queues that have jobs in a certain state. */
export interface HoldingRow {
  readonly state: JobState;
  readonly queues: number;
  readonly jobs: number;
  /** The largest number of jobs in any one of these queues. */
  readonly most: number;
  /**
   * The ids of the queues as an array literal. The text is passed back to Postgres unparsed, because parsing a thousand
   * ids takes longer than finding them.
   */
  readonly ids: string;
}

/** $1 states, $2 queues or null for all. Returns one row for each state in which some queue has jobs. */
export const selectHolding = prepared(
  'longshore-select-holding',
  `
    select state, count(*)::integer as queues, sum(jobs) as jobs, max(jobs) as most, array_agg(queue_id)::text as ids
    from (
      select queue_id, state, ${summed} as jobs from longshore.job_count
      where state = any($1::longshore.job_state[]) and ($2::integer[] is null or queue_id = any($2))
      group by queue_id, state having ${summed} > 0
    ) as held
    group by state`,
);

/** Returns the number of jobs in each state across all queues. */
export const selectTotals = prepared(
  'longshore-select-totals',
  `select state, ${summed} as jobs from longshore.job_count group by state`,
);

/**
 * Folds counter changes into one row per queue and state. Adds done and failed jobs to the throughput of the interval
 * in which they ended. Several servers can run this at the same time, because locked rows are skipped.
 * On Citus, which cannot skip locked rows when it searches all shards, only one of them folds.
 */
export const foldCounts = prepared(
  'longshore-fold-counts',
  fold('', 'ctid = any (array(select ctid from longshore.job_count for update skip locked))'),
  fold(
    `turn as materialized (
      select pg_try_advisory_xact_lock(longshore.lock_key('job_count')) as mine
    ),
    `,
    '(select mine from turn)',
  ),
);

/**
 * @param turn a CTE that precedes the others, followed by a comma
 * @param which SQL condition on the rows to fold
 */
function fold(turn: string, which: string): string {
  return `
    with ${turn}folded as (
      delete from longshore.job_count
      where ${which}
      returning queue_id, state, jobs, at
    ),
    ended as (
      insert into longshore.throughput as counted (queue_id, at, done, failed)
      select place.queue_id, place.at, coalesce(sum(jobs) filter (where state = 'done'), 0),
        coalesce(sum(jobs) filter (where state = 'failed'), 0)
      from folded
      cross join lateral (
        values (0, date_bin('10 seconds', folded.at, 'epoch')), (folded.queue_id, date_bin('1 minute', folded.at, 'epoch'))
      ) as place (queue_id, at)
      where folded.at is not null and jobs > 0 and state in ('done', 'failed')
      group by place.queue_id, place.at order by place.queue_id, place.at
      on conflict (queue_id, at) do update set done = counted.done + excluded.done, failed = counted.failed + excluded.failed
    )
    insert into longshore.job_count (queue_id, state, jobs, at)
    select queue_id, state, sum(jobs), null from folded group by queue_id, state having sum(jobs) <> 0`;
}

/** Returns whether more than 1000 jobs are enqueued in queues that are not paused. */
export const areBehind = prepared(
  'longshore-are-behind',
  `
    select coalesce(sum(jobs), 0) > 1000 as behind
    from longshore.job_count join longshore.queue on queue.id = queue_id
    where state = 'enqueued' and not ${isPaused}`,
);
