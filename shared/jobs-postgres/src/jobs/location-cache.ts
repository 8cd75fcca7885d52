import type { Database } from '../connection/database.js';
import type { Statement } from '../connection/statement.js';

const maxRemembered = 10_000;

/** The columns that every lookup of a job must return. */
interface LocatedRow {
  readonly queue_id: number;
}

/**
 * Finds jobs by id and remembers their queues. No index finds an unfinished job by id alone, so a lookup starts in the
 * queue where the job was last seen.
 */
export class LocationCache {
  readonly #database: Database;
  /** Queue ids by job id, least recently used first. */
  readonly #queueIds = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Looks up a job in the queue where it was last seen and, if it is not there, everywhere.
   *
   * @param statement $1 id, $2 queue to search besides history, or null for every queue
   * @returns `undefined` if there is no such job
   */
  async find<Row extends LocatedRow>(statement: Statement, id: string): Promise<Row | undefined> {
    const key = id.toLowerCase();
    const hint = this.#queueIds.get(key) ?? null;
    let [row] = await this.#database.query<Row>(statement, [key, hint]);
    if (row === undefined && hint !== null) [row] = await this.#database.query<Row>(statement, [key, null]);
    if (row === undefined) this.#queueIds.delete(key);
    else this.#remember(key, row.queue_id);
    return row;
  }

  #remember(id: string, queueId: number): void {
    this.#queueIds.delete(id);
    this.#queueIds.set(id, queueId);
    const [oldest] = this.#queueIds.keys();
    if (this.#queueIds.size > maxRemembered && oldest !== undefined) this.#queueIds.delete(oldest);
  }
}
