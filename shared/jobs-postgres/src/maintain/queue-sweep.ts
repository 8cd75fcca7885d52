import type { SetAsideRole } from '@longshore/jobs';
import type pg from 'pg';
import { arrayOf } from '../connection/array-literal.js';
import { type Database, isOfData } from '../connection/database.js';
import { apart } from '../connection/isolation.js';
import type { Statement } from '../connection/statement.js';
import type { PostgresSetAside } from './set-aside.js';

/** How jobs of one queue are moved in bulk, and how some of them are. */
export interface Moving {
  readonly role: SetAsideRole;
  /** $1 queue, then the limit and what else the caller gives. */
  readonly all: Statement;
  /** $1 queue, $2 ids. */
  readonly some: Statement;
  /** $1 queue, $2 ids to skip, $3 limit, then what else the caller gives: selects the ids of the jobs to move. */
  readonly select: Statement;
}

/** A queue with a job that cannot be moved is swept with care for so long. */
const carefulMs = 60_000;

/** Jobs that are moved with care in one transaction, unless the caller wants fewer. */
const mostWithCare = 1_000;

/** Moves the jobs of a queue with one statement; only where that fails because of a job's data, those that can be moved without it. */
export class QueueSweep {
  readonly #database: Database;
  readonly #setAside: PostgresSetAside;
  readonly #careful = new Map<string, number>();

  constructor(database: Database, setAside: PostgresSetAside) {
    this.#database = database;
    this.#setAside = setAside;
  }

  /**
   * Resolves to what the statements answered.
   *
   * @param bounds of what is moved, if the statements take any
   */
  async move<Row extends pg.QueryResultRow>(
    moving: Moving,
    queueId: number,
    limit?: number,
    bounds: readonly unknown[] = [],
  ): Promise<Row[]> {
    const place = `${moving.role} ${queueId}`;
    if ((this.#careful.get(place) ?? 0) <= performance.now()) {
      this.#careful.delete(place);
      try {
        return await this.#database.write<Row>(
          moving.all,
          limit === undefined ? [queueId] : [queueId, limit, ...bounds],
        );
      } catch (error) {
        if (!isOfData(error)) throw error;
        this.#careful.set(place, performance.now() + carefulMs);
      }
    }
    return this.#moveWithCare<Row>(moving, queueId, limit ?? mostWithCare, bounds);
  }

  async #moveWithCare<Row extends pg.QueryResultRow>(
    { role, some, select }: Moving,
    queueId: number,
    limit: number,
    bounds: readonly unknown[],
  ): Promise<Row[]> {
    const left = arrayOf([...(await this.#setAside.leftAlone(role))]);
    const found = await this.#database.query<{ id: string }>(select, [queueId, left, limit, ...bounds]);
    if (found.length === 0) return [];
    const ids = found.map(({ id }) => id);
    const failed = new Set<string>();
    const moved = await this.#database.transaction(async (client) => {
      failed.clear();
      await this.#database.lockQueues(client, [queueId]);
      return apart(client)(
        ids,
        async (part) => (await client.query<Row>({ ...some, values: [queueId, arrayOf(part)] })).rows,
        (jobId, error) => {
          failed.add(jobId);
          return this.#setAside.put(client, { role, key: jobId, queueId, jobId }, error);
        },
      );
    });
    await this.#setAside.settled(
      role,
      ids.filter((id) => !failed.has(id)),
    );
    return moved.flat();
  }
}
