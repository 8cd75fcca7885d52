import type { JobState } from '@longshore/jobs';
import { type JobCount, jobStates, type StateCounts } from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import { RequestCoalescer } from '../connection/request-coalescer.js';
import {
  type CountRow,
  type HoldingRow,
  selectCounts,
  selectHolding,
  selectTotals,
  type TotalRow,
} from './counters.sql.js';

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
