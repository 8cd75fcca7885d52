import { isOfData, sqlStateOf } from '../connection/errors.js';
import type { Aside, PostgresSetAside } from '../records/set-aside.js';
import { isUsedAgain } from '../control/queues.sql.js';
import { isIdleCancellation } from '../jobs/job-control.sql.js';
import { hasStrays } from '../history/history-days.js';
import { prepared } from '../connection/statement.js';

/** How long this process skips a failed chore, in milliseconds. */
const pauseMs = 60_000;

/**
 * Runs periodic chores. A chore that fails because of stored data or a statement timeout is recorded as set aside and
 * paused, and the other chores still run.
 */
export class Chores {
  readonly #setAside: PostgresSetAside;
  /** When each failed chore can run again, by name (on the clock of `performance.now()`). */
  readonly #failed = new Map<string, number>();

  constructor(setAside: PostgresSetAside) {
    this.#setAside = setAside;
  }

  /**
   * Runs a chore. Does nothing during the pause after a failure.
   *
   * @param about the job that the chore concerns, if any
   * @throws errors that are caused neither by stored data nor by a statement timeout
   */
  async do(
    name: string,
    work: () => Promise<unknown>,
    about: Pick<Aside, 'queueId' | 'jobId'> = {},
  ): Promise<void> {
    const pausedUntil = this.#failed.get(name);
    if (pausedUntil !== undefined && performance.now() < pausedUntil) return;
    try {
      await work();
      if (this.#failed.delete(name)) await this.#setAside.removeProcessed('cleaner', [name]);
    } catch (error) {
      if (!isOfData(error) && sqlStateOf(error) !== '57014') throw error;
      this.#failed.set(name, performance.now() + pauseMs);
      await this.#setAside.putInOwnTransaction({ role: 'cleaner', key: name, ...about }, error);
    }
  }
}

export interface DueChores {
  /** The number of rows that folding the counters would remove. */
  foldable: number;
  /** Names of small tables that have grown beyond their limits. */
  bloated: string[];
  /** Whether there are requests to cancel jobs that are no longer running. */
  missed: boolean;
  /** Whether rows have landed in a default partition of history. */
  strays: boolean;
  /** Whether retired queues are in use again. */
  returning: boolean;
}

/**
 * Returns which chores are due. Tables below their limits (256 KB or 1 MB) are not rewritten, because a rewrite makes
 * every connection plan its statements again. On Citus, only tables of the coordinator are; on the nodes, vacuum keeps the
 * others small.
 */
export const findChores = prepared(
  'longshore-find-chores',
  choresWith(
    `('job_count', 1048576), ('outbox', 1048576), ('scan_gap', 1048576), ('queue_bucket', 262144), ('server', 262144)`,
  ),
  choresWith(`('scan_gap', 1048576), ('server', 262144)`),
);

/** @param tables the tables to rewrite, and their limits in bytes */
function choresWith(tables: string): string {
  return `
    select counted.foldable,
      array(
        select name from (values ${tables})
          as small (name, most)
        where pg_relation_size(('longshore.' || name)::regclass) > most
      ) as bloated,
      exists (select 1 from longshore.job_cancellation as request where ${isIdleCancellation}) as missed,
      ${hasStrays} as strays,
      exists (select 1 from longshore.queue where ${isUsedAgain}) as returning
    from (select (count(*) - count(distinct (queue_id, state)))::integer as foldable from longshore.job_count) as counted`;
}
