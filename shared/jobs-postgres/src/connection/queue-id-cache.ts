import { TooManyQueuesError, type TransactionClient } from '@longshore/jobs';
import type { RateLimit } from '@longshore/jobs/storage';
import { addPriorities } from '../claim/ready-scans.sql.js';
import { pauseColumns, type PauseRow } from '../control/pause.sql.js';
import { isShown } from '../read/shown-queues.sql.js';
import { arrayOf } from './array-literal.js';
import type { Database } from './database.js';
import { runOf } from './run.js';
import { prepared, type Statement } from './statement.js';

/**
 * $1 name, $2 maximum number of queues. Returns the queue's id, creating the queue if needed. Returns null if a new
 * queue would exceed the maximum.
 */
const makeQueue = prepared('longshore-make-queue', `select longshore.queue_number($1, $2) as id`);

const columns = `id, name, ${pauseColumns}, concurrency_limit, rate_limit, created_at`;

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

/** $1 maximum number of queues. */
const setCap = prepared(
  'longshore-set-queue-cap',
  `update longshore.queue_cap set max_queues = $1 where max_queues <> $1`,
);

/** The largest Postgres integer. Stands for an unlimited number of queues in SQL. */
const maxInteger = 2_147_483_647;

export interface QueueRow extends PauseRow {
  id: number;
  name: string;
  concurrency_limit: number | null;
  rate_limit: Required<RateLimit> | null;
  created_at: Date;
}

/** Maps queue names to ids and back. Ids never change: a retired queue that is used again keeps its id. */
export class QueueIdCache {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #maxQueues: number;
  readonly #ids = new Map<string, number>();
  readonly #names = new Map<number, string>();
  /** Priorities that are known to be stored in the database, by queue id. */
  readonly #priorities = new Map<number, Set<number>>();

  /**
   * @param reads connections for reads on behalf of users; `database` by default
   * @param maxQueues maximum number of queues; unlimited by default
   */
  constructor(database: Database, reads: Database = database, maxQueues = Infinity) {
    this.#database = database;
    this.#reads = reads;
    this.#maxQueues = maxQueues;
  }

  /** Stores the maximum number of queues, so that it also applies to jobs enqueued from SQL. */
  async setCap(): Promise<void> {
    await this.#database.query(setCap, [Math.min(this.#maxQueues, maxInteger)]);
  }

  /**
   * Returns the id of a queue, creating the queue if it does not exist. A cached id is returned even if the queue has
   * been retired since, because a job enqueued there ends the retirement.
   *
   * @throws {TooManyQueuesError} if a new queue would exceed the limit
   */
  async idOf(name: string): Promise<number> {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    const [row] = await this.#database.query<{ id: number | null }>(makeQueue, [
      name,
      Math.min(this.#maxQueues, maxInteger),
    ]);
    const id = row?.id ?? null;
    if (id === null) throw new TooManyQueuesError(name, this.#maxQueues);
    this.#remember(id, name);
    return id;
  }

  /**
   * Stores the priorities of new jobs for their queue. Must be called before the jobs are inserted, because scans for
   * ready jobs only search known priorities.
   */
  async notePriorities(queueId: number, jobs: Iterable<{ readonly priority: number }>): Promise<void> {
    const known = this.#priorities.get(queueId) ?? new Set([0]);
    const others = new Set<number>();
    for (const { priority } of jobs) if (!known.has(priority)) others.add(priority);
    if (others.size === 0) return;
    await this.#database.query(addPriorities, [queueId, arrayOf([...others])]);
    this.#priorities.set(queueId, new Set([...known, ...others]));
  }

  /** Returns the ids of the named queues that exist. Includes retired queues, because their jobs can still be found. */
  async idsOf(names: readonly string[]): Promise<number[]> {
    const unknown = names.filter((name) => !this.#ids.has(name));
    if (unknown.length > 0) await this.#load(this.#database, selectIds, [unknown]);
    return names.flatMap((name) => this.#ids.get(name) ?? []);
  }

  /**
   * Returns the name of a queue. If there is no such queue, returns the placeholder `queue-<id>`, so that its jobs can
   * still be shown.
   */
  async nameOf(id: number): Promise<string> {
    if (!this.#names.has(id)) await this.#load(this.#database, selectName, [id]);
    const name = this.#names.get(id);
    return name ?? `queue-${id}`;
  }

  /**
   * Returns the row of a queue; `undefined` if the queue does not exist, or is retired and not in use. With a
   * transaction, also sees that transaction's changes.
   */
  async find(name: string, transaction?: TransactionClient): Promise<QueueRow | undefined> {
    const [row] = (await runOf(this.#reads, transaction)(selectQueue, [name])) as readonly QueueRow[];
    return row;
  }

  /** Lists queues in order of their names. Omits retired queues that are not in use. */
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
