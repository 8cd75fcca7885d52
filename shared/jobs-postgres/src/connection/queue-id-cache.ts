import { type RateLimit, TooManyQueuesError, type TransactionClient } from '@longshore/jobs';
import { addPriorities } from '../claim/ready-scans.sql.js';
import { isShown } from '../read/shown-queues.sql.js';
import { arrayOf } from './array-literal.js';
import type { Database } from './database.js';
import { runOf } from './run.js';
import { prepared, type Statement } from './statement.js';

/** $1 name, $2 the most queues there may be. */
const makeQueue = prepared('longshore-make-queue', `select longshore.queue_number($1, $2) as id`);

const columns = 'id, name, paused_at, concurrency_limit, rate_limit, created_at';

const selectQueues = prepared(
  'longshore-select-queues',
  `select ${columns} from longshore.queue where ${isShown} order by name`,
);

const selectQueue = prepared(
  'longshore-select-queue',
  `select ${columns} from longshore.queue where name = $1 and ${isShown}`,
);

const selectIds = prepared(
  'longshore-select-queue-ids',
  `select id, name from longshore.queue where name = any($1::text[])`,
);

const selectName = prepared(
  'longshore-select-queue-name',
  `select id, name from longshore.queue where id = $1`,
);

/** $1 the most queues there may be. */
const setCap = prepared(
  'longshore-set-queue-cap',
  `update longshore.queue_cap set most = $1 where most <> $1`,
);

/** Of Postgres. */
const mostInteger = 2_147_483_647;

export interface QueueRow {
  id: number;
  name: string;
  paused_at: Date | null;
  concurrency_limit: number | null;
  rate_limit: Required<RateLimit> | null;
  created_at: Date;
}

/** Queues' names and their numbers, which never change: a queue that comes back after it was retired has the one that it had. */
export class QueueIdCache {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #most: number;
  readonly #ids = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Priorities that the queues are known to have, by queue. */
  readonly #priorities = new Map<number, Set<number>>();

  /**
   * @param reads for what people look at
   * @param most queues that there may be
   */
  constructor(database: Database, reads: Database = database, most = Infinity) {
    this.#database = database;
    this.#reads = reads;
    this.#most = most;
  }

  /** Keeps those who enqueue from SQL, in any process, to the same number of queues. */
  async setCap(): Promise<void> {
    await this.#database.query(setCap, [Math.min(this.#most, mostInteger)]);
  }

  /**
   * The number of a queue, which is made if it does not exist. One that is known is given as it is, retired or not: with a job it
   * is back.
   *
   * @throws {TooManyQueuesError}
   */
  async idOf(name: string): Promise<number> {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const [row] = await this.#database.query<{ id: number | null }>(makeQueue, [
      name,
      Math.min(this.#most, mostInteger),
    ]);
    const id = row?.id ?? null;
    if (id === null) throw new TooManyQueuesError(name, this.#most);
    this.#remember(id, name);
    return id;
  }

  /** Notes which priorities jobs of a queue have, before they are inserted: the scans for ready jobs have to know them. */
  async notePriorities(queueId: number, jobs: Iterable<{ readonly priority: number }>): Promise<void> {
    const known = this.#priorities.get(queueId) ?? new Set([0]);
    const others = new Set<number>();
    for (const { priority } of jobs) if (!known.has(priority)) others.add(priority);
    if (others.size === 0) return;
    await this.#database.query(addPriorities, [queueId, arrayOf([...others])]);
    this.#priorities.set(queueId, new Set([...known, ...others]));
  }

  /** Numbers of those among the queues that exist or have existed: their jobs are found. */
  async idsOf(names: readonly string[]): Promise<number[]> {
    const unknown = names.filter((name) => !this.#ids.has(name));
    if (unknown.length > 0) await this.#load(this.#database, selectIds, [unknown]);
    return names.flatMap((name) => this.#ids.get(name) ?? []);
  }

  /** The name of a queue. A job of one that is not there can be shown all the same, under its number. */
  async nameOf(id: number): Promise<string> {
    if (!this.#names.has(id)) await this.#load(this.#database, selectName, [id]);
    const name = this.#names.get(id);
    return name ?? `queue-${id}`;
  }

  /** `undefined` if there is none, or it is retired. A caller's transaction sees what it has written. */
  async find(name: string, transaction?: TransactionClient): Promise<QueueRow | undefined> {
    const [row] = (await runOf(this.#reads, transaction)(selectQueue, [name])) as readonly QueueRow[];
    return row;
  }

  /** Every queue, by name; not those that are retired. */
  all(): Promise<QueueRow[]> {
    return this.#load<QueueRow>(this.#reads, selectQueues);
  }

  async #load<Row extends Pick<QueueRow, 'id' | 'name'>>(
    database: Database,
    statement: Statement,
    values: unknown[] = [],
  ): Promise<Row[]> {
    const rows = await database.query<Row>(statement, values);
    for (const { id, name } of rows) this.#remember(id, name);
    return rows;
  }

  #remember(id: number, name: string): void {
    this.#ids.set(name, id);
    this.#names.set(id, name);
  }
}
