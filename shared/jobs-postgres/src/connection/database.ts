import { StorageClosedError } from '@longshore/jobs';
import type { PoolStatus } from '@longshore/jobs/storage';
import pg from 'pg';
import {
  coordinatorPlans,
  indexPlans,
  type Lending,
  lendingOfForeign,
  lendingOfOwn,
  limits,
  localSettings,
  meaning,
  sessionSettings,
  type Settings,
  stopsWithClient,
  transactionTimeout,
} from './session.js';
import { arrayOf } from './array-literal.js';
import { Connection } from './connection.js';
import { endTransaction, forceTwoPhaseCommit, lockQueues } from './database.sql.js';
import { asReadTimeout, codeOf, fromDriver, fromStorage, translate } from './errors.js';
import { repeatedly } from './repeatedly.js';
import type { DatabaseOptions } from './database-options.js';
import { Schema } from './schema.js';
import { pipelined } from './pipeline.js';
import {
  borrowFrom,
  renewConnections,
  closePool,
  connectionErrorOf,
  createPool,
  poolStatus,
  queryUntilAborted,
  setsUp,
  share,
} from './pool.js';
import { readOnlyState, spoilsConnection } from './sql-states.js';
import { storedTypes } from './stored-value.js';
import { unlessAborted } from './unless-aborted.js';
import { UnnamedClient } from './unnamed-client.js';
import { requireWritable } from './writable.js';
import { watchedConfig } from './watched-client.js';
import { type Watchdog, watchdogOf } from './watchdog.js';
import { type Statement, unnamed } from './statement.js';

export interface Query {
  readonly statement: Statement;
  readonly values: unknown[];
  /** Called with the rows by {@link Database.queryAndThen}. */
  readonly onRows?: (rows: never[]) => void;
}

/** How a transaction runs. */
interface Terms {
  readonly settings: Settings;
  /** Whether statements of the application run in it. */
  readonly isLent: boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Maximum age of a connection, in seconds. Limited because prepared statements accumulate in the connection's memory.
 */
const maxLifetimeSeconds = 6 * 3_600;

/**
 * How long an unused connection stays open, in milliseconds. Opening a connection takes longer than most statements.
 */
const idleTimeoutMillis = 30_000;

/** A pool of connections. Transient failures are reported as `StorageUnavailableError`. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #watchdog: Watchdog;
  readonly #begin: string;
  /** Begins a transaction in which statements of the application run. */
  readonly #beginLent: string;
  readonly #lending: Lending;
  /** SQL that makes a transaction commit on all nodes of a cluster or on none; empty without Citus. */
  readonly #twoPhaseCommit: string;
  readonly #keptOpen: number;
  /** Whether each transaction applies the session settings. True behind a pooler and for the application's pool. */
  readonly #setsSettings: boolean;
  /** Ends what the storage does with the application's pool. */
  #leave: () => void = () => undefined;
  #closed: Promise<void> | undefined;
  readonly options: DatabaseOptions;
  readonly schema: Schema;

  /**
   * Uses the application's pool if the options contain one; otherwise creates a pool that connects on first use.
   *
   * @param usualPlans planner settings; replaced by {@link coordinatorPlans} on a Citus cluster
   * @param keptOpen number of connections that stay open while idle, at most `poolSize`
   */
  constructor(options: DatabaseOptions, usualPlans: Settings = indexPlans, keptOpen = 0) {
    const plans = options.distribution === 'citus' ? coordinatorPlans : usualPlans;
    this.options = options;
    this.#watchdog = watchdogOf(options);
    this.#keptOpen = Math.min(keptOpen, options.poolSize);
    this.schema = schemaOf(options);
    const pooled = options.pooler === 'transaction';
    this.#setsSettings = pooled || options.pool !== undefined;
    const begin = options.useRecommendedIsolationLevel ? 'begin isolation level read committed' : 'begin';
    const ours = { ...meaning, ...plans };
    this.#begin = this.#setsSettings ? `${begin}; ${localSettings({ ...ours, ...limits(options) })}` : begin;
    this.#lending = this.#setsSettings ? lendingOfForeign(ours) : lendingOfOwn(ours);
    const timeLimits = this.#setsSettings ? localSettings(limits(options)) : '';
    this.#beginLent = [begin, timeLimits, this.#lending.atFirst].filter(Boolean).join('; ');
    this.#twoPhaseCommit =
      options.distribution === 'citus' ? this.schema.render(forceTwoPhaseCommit.text) : '';
    const setup = [sessionSettings(ours), ...(options.reads === true ? [stopsWithClient] : [])];
    this.#pool =
      options.pool ??
      createPool({
        ...watchedConfig(options, {}),
        types: storedTypes,
        max: options.poolSize,
        ...(!pooled && { verify: setsUp(setup.join('; '), options.connectTimeoutMs) }),
        min: this.#keptOpen,
        idleTimeoutMillis,
        maxLifetimeSeconds,
        ...(pooled && { Client: UnnamedClient }),
      });
    if (options.pool !== undefined) this.#leave = share(options.pool, this.#watchdog);
  }

  /**
   * Runs one statement in a separate transaction and returns the rows. Repeats it as {@link transaction} does.
   *
   * @param signal for reads: stops the statement when aborted; the promise then rejects with the signal's reason
   * @throws {ReadTimeoutError} for reads, if the time limit is exceeded or all connections are busy
   */
  async query<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[] = [],
    signal?: AbortSignal,
  ): Promise<Row[]> {
    try {
      return await repeatedly(() => this.#queryOnce<Row>(statement, values, signal));
    } catch (error) {
      if (this.options.reads !== true) throw error;
      throw asReadTimeout(error, this.options, this.#pool.totalCount);
    }
  }

  /**
   * Runs two statements, each in a separate transaction. Resolves with the rows of `first`, and ignores a failure of
   * `second`. Sends both at once, to save a round trip, unless each transaction must apply the session settings.
   */
  async queryAndThen<Row extends pg.QueryResultRow>(first: Query, second: Query): Promise<Row[]> {
    if (!this.#setsSettings) return repeatedly(() => this.#queryBoth<Row>(first, second));
    const rows = await this.query<Row>(first.statement, first.values);
    this.query<never>(second.statement, second.values).then(second.onRows, () => undefined);
    return rows;
  }

  async #queryBoth<Row extends pg.QueryResultRow>(first: Query, second: Query): Promise<Row[]> {
    const client = await this.#borrow();
    const queries = [first, second].map(({ statement, values }) => ({
      ...this.schema.statement(statement),
      values,
    }));
    let leading: Promise<pg.QueryResult<Row>> | undefined;
    const both = pipelined(client, () => {
      const [one, two] = queries.map((query) => fromStorage(client.query<Row>(query)));
      leading = one;
      two?.then(({ rows }) => second.onRows?.(rows as never[])).catch(() => undefined);
      return Promise.allSettled([one, two]);
    });
    void both.then((results) => client.release(results.some(({ status }) => status === 'rejected')));
    try {
      return (await leading)?.rows ?? [];
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * Runs a statement that changes jobs of one queue, in a separate transaction. `values` begins with the queue id.
   * Locks the queue first, unless global locks are disabled.
   */
  async write<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: [queueId: number, ...rest: unknown[]],
  ): Promise<Row[]> {
    if (this.options.disableGlobalLocks) return this.query<Row>(statement, values);
    return this.transaction(async (client) => {
      await this.lockQueues(client, [values[0]]);
      return (await client.query<Row>(statement, values)).rows;
    });
  }

  /** Locks these queues against other writers until the transaction ends, unless global locks are disabled. */
  async lockQueues(client: Connection, queueIds: readonly number[]): Promise<void> {
    if (this.options.disableGlobalLocks) return;
    await client.query(lockQueues, [arrayOf(queueIds)]);
  }

  /**
   * Runs `work` in a transaction. Repeats `work` after a serialization failure, a deadlock or the loss of prepared
   * statements, so its side effects must tolerate repetition. With Postgres 17 or newer, `statementTimeoutMs` limits
   * the duration of the transaction. A transaction with an `application_name` in `settings` has no such limit.
   *
   * @param settings Postgres settings for the duration of the transaction
   */
  transaction<Result>(work: (client: Connection) => Promise<Result>, settings?: Settings): Promise<Result> {
    return repeatedly(() => this.transactionOnce(work, settings));
  }

  /** Like {@link transaction}, but never repeats `work`. */
  async transactionOnce<Result>(
    work: (client: Connection) => Promise<Result>,
    settings: Settings = {},
  ): Promise<Result> {
    return this.#once(work, { settings, isLent: false });
  }

  /**
   * Like {@link transactionOnce}, for a transaction in which statements of the application run. They see the settings of
   * a connection that the application opens itself, apart from the time limits.
   *
   * @param signal ends the transaction when aborted; the promise then rejects with the signal's reason
   */
  async lend<Result>(
    work: (client: Connection) => Promise<Result>,
    settings: Settings,
    signal?: AbortSignal,
  ): Promise<Result> {
    return this.#once(work, { settings, isLent: true, signal });
  }

  async #once<Result>(work: (client: Connection) => Promise<Result>, terms: Terms): Promise<Result> {
    const { settings, signal, isLent } = terms;
    const client = await this.#borrow();
    const pid = await this.#begun(client, terms).catch((error: unknown) => {
      client.release(true);
      throw this.#failed(error, connectionErrorOf(client));
    });
    const connection = this.#wrap(client, isLent ? this.#lending : undefined);
    try {
      const result = await unlessAborted(this.#runAndCommit(connection, work, terms), signal);
      client.release();
      return result;
    } catch (error) {
      if (signal?.aborted === true) {
        client.release(true); // closes the connection, even during a statement
        await this.query(endTransaction, [pid, settings['application_name'] ?? this.options.applicationName]);
        throw signal.reason;
      }
      const { reason, isSpoiled } = await connection.rollBack(error);
      client.release(isSpoiled); // closes the connection if it is spoiled
      throw this.#failed(reason, connectionErrorOf(client));
    }
  }

  /** Begins a transaction. If there is a signal, returns the process id of the backend; otherwise `undefined`. */
  async #begun(client: pg.PoolClient, { settings, isLent, signal }: Terms): Promise<number | undefined> {
    const withPid = signal !== undefined;
    const begin = isLent ? this.#beginLent : this.#begin;
    // The total duration of transactions with their own application name is unlimited, because some run handlers.
    const bound = 'application_name' in settings ? '' : transactionTimeout(this.options.statementTimeoutMs);
    const process = withPid ? 'select pg_backend_pid() as pid' : '';
    const statements = [begin, localSettings(settings), bound, this.#twoPhaseCommit, process];
    const results: unknown = await fromDriver(client.query(statements.filter(Boolean).join('; ')));
    if (!withPid) return undefined;
    return (results as readonly pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
  }

  async #runAndCommit<Result>(
    connection: Connection,
    work: (client: Connection) => Promise<Result>,
    { isLent }: Terms,
  ): Promise<Result> {
    const result = await work(connection);
    const commit = isLent && !this.#setsSettings ? `commit; ${this.#lending.afterwards}` : 'commit';
    const ended: unknown = await fromDriver(connection.client.query(commit));
    // If a statement failed and `work` ignored the error, Postgres answers COMMIT with a successful ROLLBACK.
    const [first] = [ended].flat() as pg.QueryResult[];
    if (first?.command !== 'COMMIT')
      throw new Error('The transaction was rolled back because one of its statements had failed');
    return result;
  }

  /** Opens the connections that stay open while idle. */
  async connect(): Promise<void> {
    await Promise.all(Array.from({ length: this.#keptOpen }, () => this.query(unnamed('select 1'))));
  }

  /** Runs `work` with a connection outside any transaction, for statements that cannot run in one. */
  async session<Result>(work: (client: Connection) => Promise<Result>): Promise<Result> {
    const client = await this.#borrow();
    try {
      return await work(this.#wrap(client));
    } catch (error) {
      throw this.#failed(error);
    } finally {
      client.release();
    }
  }

  /** Checks that a connection is available, and that it accepts writes. Throws like {@link requireWritable}. */
  async requireWritable(): Promise<void> {
    await requireWritable(() => this.#borrow());
  }

  /** Returns the state of the pool, under this name. */
  poolStatus(name: string): PoolStatus {
    return poolStatus(name, this.#pool);
  }

  /** Closes the pool, unless it belongs to the application. */
  close(): Promise<void> {
    this.#leave();
    this.#closed ??= this.options.pool === undefined ? closePool(this.#pool) : Promise.resolve();
    return this.#closed;
  }

  /** @throws {StorageClosedError} if {@link close} was called */
  #requireOpen(): void {
    if (this.#closed !== undefined) throw new StorageClosedError();
  }

  async #borrow(): Promise<pg.PoolClient> {
    this.#requireOpen();
    const { pool, statementTimeoutMs } = this.options;
    const borrowed =
      pool === undefined ? this.#pool.connect() : borrowFrom(pool, this.#watchdog, statementTimeoutMs);
    return fromDriver(borrowed).catch((error: unknown) => {
      throw this.#failed(error);
    });
  }

  /** Like {@link translate}. Also closes the connections, those in use when they are returned, if they lead to a server that accepts only reads. */
  #failed(error: unknown, end?: Error): unknown {
    if (codeOf(error) === readOnlyState) renewConnections(this.#pool);
    return translate(error, end);
  }

  #wrap(client: pg.PoolClient, lending?: Lending): Connection {
    const { pool, pooler } = this.options;
    return new Connection(client, this.schema, {
      ...(lending && { lending }),
      isShared: pool !== undefined,
      isPooled: pooler === 'transaction',
    });
  }

  async #queryOnce<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<Row[]> {
    signal?.throwIfAborted();
    const { pool, pooler } = this.options;
    if (!this.#setsSettings) return this.#querySession<Row>(statement, values, signal);
    if (pool !== undefined && pooler === 'none') return this.#queryShared<Row>(statement, values);
    const terms = { settings: {}, isLent: false, signal };
    return (await this.#once((client) => client.query<Row>(statement, values), terms)).rows;
  }

  /** Runs one statement on a connection whose session has all settings. */
  async #querySession<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[],
    signal: AbortSignal | undefined,
  ): Promise<Row[]> {
    this.#requireOpen();
    const query = { ...this.schema.statement(statement), values };
    try {
      if (signal !== undefined) return await queryUntilAborted<Row>(this.#pool, query, signal);
      return (await fromStorage(this.#pool.query<Row>(query))).rows;
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /** Runs one statement in a transaction on the application's pool, with BEGIN and COMMIT in the same round trip. */
  async #queryShared<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const client = await this.#borrow();
    const lent = this.#wrap(client);
    const [begun, ran, ended] = await pipelined(client, () =>
      Promise.allSettled([
        fromDriver(client.query(this.#begin)),
        lent.query<Row>(statement, values),
        fromDriver(client.query('commit')), // rolls back if the statement has failed
      ]),
    );
    const isSpoiled = ran.status === 'rejected' && spoilsConnection(codeOf(ran.reason));
    client.release(ended.status === 'rejected' || isSpoiled);
    for (const result of [begun, ran, ended])
      if (result.status === 'rejected') throw this.#failed(result.reason, connectionErrorOf(client));
    return ran.status === 'fulfilled' ? ran.value.rows : [];
  }
}

/** Returns the {@link Schema} that rewrites statements for a store's schema name and distribution. */
export function schemaOf({ schema, distribution }: DatabaseOptions): Schema {
  return new Schema(schema, distribution);
}
