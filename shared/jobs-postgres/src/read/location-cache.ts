import type { Database } from '../connection/database.js';
import type { Statement } from '../connection/statement.js';

const mostRemembered = 10_000;

/** What each look-up of one job gives at least. */
interface LocatedRow {
  readonly queue_id: number;
}

/**
 * Finds a job by its id, wherever it is. A job that has not finished is in no index by its id alone, and asking every queue
 * takes its time, so the queue in which a job was last seen is remembered. That is a hint: the job may have been moved since.
 */
export class LocationCache {
  readonly #database: Database;
  /** The least recently seen job first. */
  readonly #queueIds = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Looks one job up, in the queue where it was last seen and, unless it is there, everywhere.
   *
   * @param statement takes $1 the id and $2 the queue to look in besides the history, or null for every queue. One statement
   * sees a job that is being moved at exactly one place
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
    if (this.#queueIds.size > mostRemembered && oldest !== undefined) this.#queueIds.delete(oldest);
  }
}
