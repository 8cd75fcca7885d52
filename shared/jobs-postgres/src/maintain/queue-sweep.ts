import type { SetAsideRole } from '@longshore/jobs/storage';
import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { isOfData } from '../connection/errors.js';
import { bisecting } from '../connection/isolation.js';
import type { Statement } from '../connection/statement.js';
import type { PostgresSetAside } from '../records/set-aside.js';

/** The statements that move jobs of one queue, either in bulk or by id. */
export interface Moving {
  readonly role: SetAsideRole;
  /** $1 queue. If the caller sets a limit: $2 limit, then the caller's other parameters. */
  readonly all: Statement;
  /** $1 queue, $2 ids. */
  readonly some: Statement;
  /** $1 queue, $2 ids to skip, $3 limit, then the caller's other parameters. Selects the ids of the jobs to move. */
  readonly select: Statement;
}

/**
 * After a job could not be moved, the jobs of its queue are moved by id for this many milliseconds, so that failing
 * jobs can be isolated.
 */
const isolationMs = 60_000;

/** Maximum number of jobs per transaction while failing jobs are isolated, if the caller sets no limit. */
const maxIsolated = 1_000;

/**
 * Moves the jobs of a queue with one statement. If the data of a job makes the statement fail, sets that job aside and
 * moves the others.
 */
export class QueueSweep {
  readonly #database: Database;
  readonly #setAside: PostgresSetAside;
  readonly #isolatedUntil = new Map<string, number>();

  constructor(database: Database, setAside: PostgresSetAside) {
    this.#database = database;
    this.#setAside = setAside;
  }

  /**
   * Moves jobs and resolves to the rows that the statements return.
   *
   * @param bounds further parameters of {@link Moving.select} and, if there is a limit, of {@link Moving.all}
   */
  async move<Row extends pg.QueryResultRow>(
    moving: Moving,
    queueId: number,
    limit?: number,
    bounds: readonly unknown[] = [],
  ): Promise<Row[]> {
    const key = `${moving.role} ${queueId}`;
    if ((this.#isolatedUntil.get(key) ?? 0) <= performance.now()) {
      this.#isolatedUntil.delete(key);
      try {
        const values = limit === undefined ? [queueId] : [queueId, limit, ...bounds];
        // Runs in an explicit transaction, so that an error arrives only after the locks have been released. For a
        // single statement, Postgres reports the error before it releases the locks, so the next statements would skip
        // the rows that are still locked.
        return await this.#database.transaction(async (client) => {
          await this.#database.lockQueues(client, [queueId]);
          return (await client.query<Row>(moving.all, values)).rows;
        });
      } catch (error) {
        if (!isOfData(error)) throw error;
        this.#isolatedUntil.set(key, performance.now() + isolationMs);
      }
    }
    return this.#moveIsolated<Row>(moving, queueId, limit ?? maxIsolated, bounds);
  }

  async #moveIsolated<Row extends pg.QueryResultRow>(
    { role, some, select }: Moving,
    queueId: number,
    limit: number,
    bounds: readonly unknown[],
  ): Promise<Row[]> {
    const left = arrayOf([...(await this.#setAside.excludedKeys(role))]);
    const found = await this.#database.query<{ id: string }>(select, [queueId, left, limit, ...bounds]);
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    const failed = new Set<string>();
    const moved = await this.#database.transaction(async (client) => {
      failed.clear();
      await this.#database.lockQueues(client, [queueId]);
      return bisecting(client)(
        ids,
        async (part) => (await client.query<Row>(some, [queueId, arrayOf(part)])).rows,
        (jobId, error) => {
          failed.add(jobId);
          return this.#setAside.put(client, { role, key: jobId, queueId, jobId }, error);
        },
      );
    });
    await this.#setAside.removeProcessed(
      role,
      ids.filter((id) => !failed.has(id)),
    );
    return moved.flat();
  }
}
