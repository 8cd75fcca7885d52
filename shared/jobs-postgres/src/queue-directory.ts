import { type RateLimit, TooManyQueuesError, type TransactionClient } from '@longshore/jobs';
import { arrayOf } from './array-literal.js';
import type { Database, Statement } from './database.js';
import { runOf } from './run.js';
import { addPriorities } from './sql/scan-jobs.js';

const insertQueue: Statement = {
  name: 'longshore-insert-queue',
  text: `
    with made as (
      insert into longshore.queue (name)
      select $1::text where (select count(*) from longshore.queue) < $2
      on conflict (name) do nothing returning id
    )
    select id from made union all select id from longshore.queue where name = $1`,
};

const columns = 'id, name, paused_at, concurrency_limit, rate_limit, created_at';

const selectQueues: Statement = {
  name: 'longshore-select-queues',
  text: `select ${columns} from longshore.queue order by name`,
};

const selectQueue: Statement = {
  name: 'longshore-select-queue',
  text: `select ${columns} from longshore.queue where name = $1`,
};

export interface QueueRow {
  id: number;
  name: string;
  paused_at: Date | null;
  concurrency_limit: number | null;
  rate_limit: Required<RateLimit> | null;
  created_at: Date;
}

/** Queues' names and their numbers, which never change. A queue comes into being when it is first named. */
export class QueueDirectory {
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

  /**
   * The number of a queue, which is made if it does not exist.
   *
   * @throws {TooManyQueuesError}
   */
  async idOf(name: string): Promise<number> {
    const known = this.#ids.get(name);
    if (known !== undefined) return known;
    // Empty if another process made it at the same instant: then it is there for the next statement to see.
    const [row] = await this.#database.query<{ id: number }>(insertQueue, [
      name,
      Math.min(this.#most, 2_147_483_647),
    ]);
    const id = row?.id ?? (await this.#load(this.#database)).find((queue) => queue.name === name)?.id;
    if (id === undefined) throw new TooManyQueuesError(name, this.#most);
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

  /** Numbers of those among the queues that exist. */
  async idsOf(names: readonly string[]): Promise<number[]> {
    if (names.some((name) => !this.#ids.has(name))) await this.#load(this.#database);
    return names.flatMap((name) => this.#ids.get(name) ?? []);
  }

  /** The name of a queue. A job of one that is not there can be shown all the same, under its number. */
  async nameOf(id: number): Promise<string> {
    if (!this.#names.has(id)) await this.#load(this.#database);
    const name = this.#names.get(id);
    return name ?? `queue-${id}`;
  }

  /** `undefined` if there is none. A caller's transaction sees what it has written. */
  async find(name: string, transaction?: TransactionClient): Promise<QueueRow | undefined> {
    const [row] = (await runOf(this.#reads, transaction)(selectQueue, [name])) as readonly QueueRow[];
    return row;
  }

  /** Every queue, by name. */
  all(): Promise<QueueRow[]> {
    return this.#load(this.#reads);
  }

  async #load(database: Database): Promise<QueueRow[]> {
    const rows = await database.query<QueueRow>(selectQueues);
    for (const { id, name } of rows) this.#remember(id, name);
    return rows;
  }

  #remember(id: number, name: string): void {
    this.#ids.set(name, id);
    this.#names.set(id, name);
  }
}
