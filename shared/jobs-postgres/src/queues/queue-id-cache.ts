import { sortCollation } from '@longshore/edge';
import { TooManyQueuesError, type TransactionClient } from '@longshore/jobs';
import type { RateLimit, StoredQueueInCode } from '@longshore/jobs/storage';
import { isShown, pauseColumns, type PauseRow } from './pause.sql.js';
import { arrayOf } from '../connection/array-literal.js';
import type { Database } from '../connection/database.js';
import { type Run, runOf } from '../connection/run.js';
import { prepared, type Statement } from '../connection/statement.js';

/**
 * $1 name, $2 maximum number of queues. Returns the queue's id, creating the queue if needed. Returns null if a new
 * queue would exceed the maximum.
 */
const makeQueue = prepared('longshore-make-queue', `select longshore.queue_number($1, $2) as id`);

const columns = `id, name, ${pauseColumns}, concurrency_limit, rate_limit, in_code, created_at`;

const selectQueues = prepared(
  'longshore-select-queues',
  `select ${columns} from longshore.queue where ${isShown} order by name collate ${sortCollation}`,
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

interface SettledRow {
  readonly id: number;
  readonly name: string;
  /** Whether the row is certainly committed: it is older than every transaction in progress, this one included. */
  readonly settled: boolean;
}

const settled = 'age(xmin) > age(pg_snapshot_xmin(pg_current_snapshot())::xid) as settled';

const selectIdsWithin = prepared(
  'longshore-select-queue-ids-within',
  `select id, name, ${settled} from longshore.queue where name = any($1::text[])`,
);

const selectNameWithin = prepared(
  'longshore-select-queue-name-within',
  `select id, name, ${settled} from longshore.queue where id = $1`,
);

/** $1 queue, $2 priorities. Adds the priorities to the queue's recorded priorities. Claims search only these and 0. */
const addPriorities = prepared(
  'longshore-add-priorities',
  `
    update longshore.queue
    set priorities = array(select distinct priority from unnest(priorities || $2::smallint[]) as priority order by priority)
    where id = $1 and not priorities @> $2::smallint[]`,
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
  in_code: StoredQueueInCode | null;
  created_at: Date;
}

/** Maps queue names to ids and back, and records priorities. */
export interface QueueIds {
  /**
   * Returns the id of a queue, creating the queue if it does not exist.
   *
   * @throws {TooManyQueuesError} if a new queue would exceed the limit
   */
  idOf(name: string): Promise<number>;
  /** Returns the ids of the named queues that exist. Includes retired queues, because their jobs can still be found. */
  idsOf(names: readonly string[]): Promise<number[]>;
  /**
   * Returns the name of a queue. If there is no such queue, returns the placeholder `queue-<id>`, so that its jobs can
   * still be shown.
   */
  nameOf(id: number): Promise<string>;
  /** Lists queues in order of their names. Omits retired queues that are not in use. */
  all(): Promise<readonly Pick<QueueRow, 'id' | 'name'>[]>;
  /**
   * Stores the priorities of new jobs for their queue. Must be called before the jobs are inserted, because scans for
   * ready jobs only search known priorities.
   */
  notePriorities(queueId: number, jobs: Iterable<{ readonly priority: number }>): Promise<void>;
}

/** Maps queue names to ids and back. Ids never change: a retired queue that is used again keeps its id. */
export class QueueIdCache implements QueueIds {
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

  /**
   * Fills the cache when the storage is opened.
   *
   * @param database connections that are open already, so that no further ones are opened for this
   * @param setsCap whether to store the maximum number of queues, so that it also applies to jobs enqueued from SQL
   */
  async fill(database: Database, setsCap: boolean): Promise<void> {
    await this.#load(database, selectQueues);
    if (setsCap) await database.query(setCap, [Math.min(this.#maxQueues, maxInteger)]);
  }

  /**
   * Returns the id of a queue, creating the queue if it does not exist. A cached id is returned even if the queue has
   * been retired since, because a job enqueued there ends the retirement.
   *
   * @throws {TooManyQueuesError} if a new queue would exceed the limit
   */
  async idOf(name: string): Promise<number> {
    const cachedId = this.#ids.get(name);
    if (cachedId !== undefined) return cachedId;
    const [row] = await this.#database.query<{ id: number | null }>(makeQueue, [
      name,
      Math.min(this.#maxQueues, maxInteger),
    ]);
    const id = row?.id ?? null;
    if (id === null) throw new TooManyQueuesError(name, this.#maxQueues);
    this.#remember(id, name);
    return id;
  }

  async notePriorities(queueId: number, jobs: Iterable<{ readonly priority: number }>): Promise<void> {
    const cachedPriorities = this.#priorities.get(queueId) ?? new Set([0]);
    const newPriorities = new Set<number>();
    for (const { priority } of jobs) if (!cachedPriorities.has(priority)) newPriorities.add(priority);
    if (newPriorities.size === 0) return;
    await this.#database.query(addPriorities, [queueId, arrayOf([...newPriorities])]);
    this.#priorities.set(queueId, new Set([...cachedPriorities, ...newPriorities]));
  }

  async idsOf(names: readonly string[]): Promise<number[]> {
    const unknown = names.filter((name) => !this.#ids.has(name));
    if (unknown.length > 0) await this.#load(this.#database, selectIds, [unknown]);
    return names.flatMap((name) => this.#ids.get(name) ?? []);
  }

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

  /** Lists queues in order of their names, by default for a user. Omits retired queues that are not in use. */
  all(database = this.#reads): Promise<QueueRow[]> {
    return this.#load<QueueRow>(database, selectQueues);
  }

  /**
   * Returns the same for a caller's transaction, whose connection alone is used: another one could wait for a row that
   * the transaction has locked, or for a connection of a pool that has no other. What the transaction itself has written
   * is not cached beyond it, because it may be rolled back.
   */
  within(transaction: TransactionClient): QueueIds {
    return this.using(runOf(this.#database, transaction));
  }

  /** Like {@link within}, for work that has a {@link Run} of the caller's transaction. */
  using(run: Run): QueueIds {
    return new QueueIdsWithin(run, Math.min(this.#maxQueues, maxInteger), {
      idOf: (name) => this.#ids.get(name),
      nameOf: (id) => this.#names.get(id),
      prioritiesOf: (id) => this.#priorities.get(id),
      remember: (id, name) => this.#remember(id, name),
    });
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

interface Cached {
  readonly idOf: (name: string) => number | undefined;
  readonly nameOf: (id: number) => string | undefined;
  readonly prioritiesOf: (id: number) => ReadonlySet<number> | undefined;
  readonly remember: (id: number, name: string) => void;
}

/** The queues that a caller's transaction sees. */
class QueueIdsWithin implements QueueIds {
  readonly #run: Run;
  readonly #maxQueues: number;
  readonly #cached: Cached;
  readonly #ids = new Map<string, number>();
  readonly #names = new Map<number, string>();

  constructor(run: Run, maxQueues: number, cached: Cached) {
    this.#run = run;
    this.#maxQueues = maxQueues;
    this.#cached = cached;
  }

  async idOf(name: string): Promise<number> {
    const [existingId] = await this.idsOf([name]);
    if (existingId !== undefined) return existingId;
    const [row] = (await this.#run(makeQueue, [name, this.#maxQueues])) as readonly { id: number | null }[];
    const id = row?.id ?? null;
    if (id === null) throw new TooManyQueuesError(name, this.#maxQueues);
    this.#remember({ id, name, settled: false });
    return id;
  }

  async idsOf(names: readonly string[]): Promise<number[]> {
    const idOf = (name: string): number | undefined => this.#ids.get(name) ?? this.#cached.idOf(name);
    const unknown = names.filter((name) => idOf(name) === undefined);
    if (unknown.length > 0) await this.#load(selectIdsWithin, [unknown]);
    return names.flatMap((name) => idOf(name) ?? []);
  }

  async nameOf(id: number): Promise<string> {
    const nameOf = (): string | undefined => this.#names.get(id) ?? this.#cached.nameOf(id);
    if (nameOf() === undefined) await this.#load(selectNameWithin, [id]);
    return nameOf() ?? `queue-${id}`;
  }

  async all(): Promise<readonly Pick<QueueRow, 'id' | 'name'>[]> {
    return (await this.#run(selectQueues, [])) as readonly QueueRow[];
  }

  async notePriorities(queueId: number, jobs: Iterable<{ readonly priority: number }>): Promise<void> {
    const cachedPriorities = this.#cached.prioritiesOf(queueId) ?? new Set([0]);
    const newPriorities = new Set<number>();
    for (const { priority } of jobs) if (!cachedPriorities.has(priority)) newPriorities.add(priority);
    if (newPriorities.size > 0) await this.#run(addPriorities, [queueId, arrayOf([...newPriorities])]);
  }

  async #load(statement: Statement, values: unknown[]): Promise<void> {
    for (const row of (await this.#run(statement, values)) as readonly SettledRow[]) this.#remember(row);
  }

  #remember({ id, name, settled }: SettledRow): void {
    this.#ids.set(name, id);
    this.#names.set(id, name);
    if (settled) this.#cached.remember(id, name);
  }
}
