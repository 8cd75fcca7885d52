import { ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import pg from 'pg';
import { coordinatorPlans } from '../citus/settings.js';
import { forceTwoPhaseCommit } from '../citus/two-phase-commit.sql.js';
import { endTransaction } from '../control/servers.sql.js';
import { arrayOf } from './array-literal.js';
import { Connection } from './connection.js';
import { fromDriver, fromStorage } from './driver-errors.js';
import { repeatedly } from './repeatedly.js';
import type { ConnectionSettings } from './connection-settings.js';
import { Schema } from './schema.js';
import {
  indexPlans,
  localSettings,
  sessionSettings,
  type Settings,
  startupOptions,
  transactionTimeout,
} from './settings.js';
import { pipelined } from './pipeline.js';
import { closePool, createPool, connectionErrorOf, watch } from './pool.js';
import { codeOf, sqlStateOf, translate } from './errors.js';
import { spoilsConnection } from './sql-states.js';
import { storedTypes } from './stored-value.js';
import { unlessAborted } from './unless-aborted.js';
import { UnnamedClient } from './unnamed-client.js';
import { distributedForm, prepared, type Statement } from './statement.js';

/** $1 queue ids. Locks the queues until the transaction ends, in ascending order to avoid deadlocks. */
export const lockQueues = prepared(
  'longshore-lock-queues',
  `
    select pg_advisory_xact_lock(('longshore.job'::regclass::oid::bigint << 32) | id)::text
    from (select distinct id from unnest($1::integer[]) as id order by id) as queue`,
);

/**
 * The kind of connection pooler. `transaction`: each transaction can run on a different connection, as with pgbouncer
 * in transaction mode. Session state such as prepared statements, settings and LISTEN is then lost between
 * transactions.
 */
export type Pooler = 'none' | 'transaction';

/** How the tables are stored. `citus` spreads them over the nodes of a Citus cluster. */
export type Distribution = 'none' | 'citus';

export interface DatabaseOptions {
  readonly connection: ConnectionSettings;
  /** The application's pool. The storage uses it instead of creating one, and does not close it. */
  readonly pool?: pg.Pool;
  /** Name of the schema that contains the store's tables. */
  readonly schema: string;
  /** Maximum number of connections in the pool. */
  readonly poolSize: number;
  /** Whether every transaction sets READ COMMITTED. `false` keeps the database's default isolation level. */
  readonly useRecommendedIsolationLevel: boolean;
  /** `false` serializes transactions that change jobs of the same queue; `true` relies on row locks alone. */
  readonly disableGlobalLocks: boolean;
  /** Maximum duration of a statement, in milliseconds; 0 for no limit. */
  readonly statementTimeoutMs: number;
  /** Maximum time to wait for a connection, in milliseconds. */
  readonly connectTimeoutMs: number;
  /** Maximum time that a handler's transaction can be idle between statements, in milliseconds. */
  readonly transactionIdleTimeoutMs: number;
  /** Name of the connections, as shown in `pg_stat_activity`. */
  readonly applicationName: string;
  readonly pooler: Pooler;
  readonly distribution: Distribution;
  /** Connection settings that bypass the pooler, for work that needs a session. */
  readonly direct: ConnectionSettings;
  /** Whether these connections are only used for reads; timeouts are then reported as {@link ReadTimeoutError}. */
  readonly reads?: boolean;
}

export interface Query {
  readonly statement: Statement;
  readonly values: unknown[];
}

/**
 * Maximum age of a connection, in seconds. Limited because prepared statements accumulate in the connection's memory.
 */
const maxLifetimeSeconds = 6 * 3_600;

/**
 * How long an unused connection stays open, in milliseconds. Opening a connection takes longer than most statements.
 */
const idleTimeoutMillis = 30_000;

/**
 * Error listener for the application's pool. Without a listener, the loss of an idle connection would end the process.
 */
const ignore = (): void => undefined;

/** A pool of connections. Transient failures are reported as {@link StorageUnavailableError}. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #begin: string;
  /** SQL that makes a transaction commit on all nodes of a cluster or on none; empty without Citus. */
  readonly #twoPhaseCommit: string;
  readonly #keptOpen: number;
  /** Whether each transaction applies the session settings. True behind a pooler and for the application's pool. */
  readonly #setsSettings: boolean;
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
    this.#keptOpen = Math.min(keptOpen, options.poolSize);
    this.schema = schemaOf(options);
    const pooled = options.pooler === 'transaction';
    this.#setsSettings = pooled || options.pool !== undefined;
    const begin = options.useRecommendedIsolationLevel ? 'begin isolation level read committed' : 'begin';
    this.#begin = this.#setsSettings
      ? `${begin}; ${localSettings({ ...plans, ...sessionSettings(options) })}`
      : begin;
    this.#twoPhaseCommit =
      options.distribution === 'citus' ? this.schema.render(forceTwoPhaseCommit.text) : '';
    this.#pool =
      options.pool ??
      createPool({
        ...connectionConfig(options, plans),
        types: storedTypes,
        max: options.poolSize,
        min: this.#keptOpen,
        idleTimeoutMillis,
        maxLifetimeSeconds,
        ...(pooled && { Client: UnnamedClient }),
      });
    if (options.pool !== undefined) options.pool.on('error', ignore);
  }

  /**
   * Runs one statement in a separate transaction and returns the rows. Repeats it as {@link transaction} does.
   * @throws {ReadTimeoutError} for reads, if the time limit is exceeded or all connections are busy
   */
  async query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    try {
      return await repeatedly(() => this.#queryOnce<Row>(statement, values));
    } catch (error) {
      throw this.options.reads === true ? this.#asReadTimeout(error) : error;
    }
  }

  /**
   * Runs two statements, each in a separate transaction. Resolves with the rows of `first`, and ignores a failure of
   * `second`. Sends both at once, to save a round trip, unless each transaction must apply the session settings.
   */
  async queryAndThen<Row extends pg.QueryResultRow>(first: Query, second: Query): Promise<Row[]> {
    if (!this.#setsSettings) return repeatedly(() => this.#queryBoth<Row>(first, second));
    const rows = await this.query<Row>(first.statement, first.values);
    this.query(second.statement, second.values).catch(() => undefined);
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
      return Promise.allSettled([one, two]);
    });
    void both.then((results) => client.release(results.some(({ status }) => status === 'rejected')));
    try {
      return (await leading)?.rows ?? [];
    } catch (error) {
      throw translate(error);
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

  /**
   * Like {@link transaction}, but never repeats `work`.
   *
   * @param signal ends the transaction when aborted; the promise then rejects with the signal's reason
   */
  async transactionOnce<Result>(
    work: (client: Connection) => Promise<Result>,
    settings: Settings = {},
    signal?: AbortSignal,
  ): Promise<Result> {
    const client = await this.#borrow();
    const pid = await this.#begun(client, settings, signal !== undefined).catch((error: unknown) => {
      client.release(true);
      throw translate(error, connectionErrorOf(client));
    });
    try {
      const result = await unlessAborted(this.#runAndCommit(client, work), signal);
      client.release();
      return result;
    } catch (error) {
      if (signal?.aborted === true) {
        client.release(true); // closes the connection, even during a statement
        await this.query(endTransaction, [pid, settings['application_name'] ?? this.options.applicationName]);
        throw signal.reason;
      }
      // Closes the connection if the rollback failed, or if the connection is of no further use.
      const broken = await client.query('rollback').then(
        () => spoilsConnection(codeOf(error)),
        () => true,
      );
      client.release(broken);
      throw translate(error, connectionErrorOf(client));
    }
  }

  /** Begins a transaction. If `withPid`, returns the process id of the backend; otherwise `undefined`. */
  async #begun(client: pg.PoolClient, settings: Settings, withPid: boolean): Promise<number | undefined> {
    // The total duration of transactions with their own application name is unlimited, because some run handlers.
    const bound = 'application_name' in settings ? '' : transactionTimeout(this.options.statementTimeoutMs);
    const process = withPid ? 'select pg_backend_pid() as pid' : '';
    const statements = [this.#begin, localSettings(settings), bound, this.#twoPhaseCommit, process];
    const results: unknown = await fromDriver(client.query(statements.filter(Boolean).join('; ')));
    if (!withPid) return undefined;
    return (results as readonly pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
  }

  async #runAndCommit<Result>(
    client: pg.PoolClient,
    work: (client: Connection) => Promise<Result>,
  ): Promise<Result> {
    const result = await work(this.#wrap(client));
    // If a statement failed and `work` ignored the error, Postgres answers COMMIT with a successful ROLLBACK.
    const { command } = await fromDriver(client.query('commit'));
    if (command !== 'COMMIT')
      throw new Error('The transaction was rolled back because one of its statements had failed');
    return result;
  }

  /** Opens the connections that stay open while idle. */
  async connect(): Promise<void> {
    await Promise.all(Array.from({ length: this.#keptOpen }, () => this.query({ text: 'select 1' })));
  }

  /** Runs `work` with a connection outside any transaction, for statements that cannot run in one. */
  async session<Result>(work: (client: Connection) => Promise<Result>): Promise<Result> {
    const client = await this.#borrow();
    try {
      return await work(this.#wrap(client));
    } catch (error) {
      throw translate(error);
    } finally {
      client.release();
    }
  }

  /** Closes the pool, unless it belongs to the application. */
  async close(): Promise<void> {
    if (this.options.pool === undefined) await closePool(this.#pool);
    else this.options.pool.off('error', ignore);
  }

  async #borrow(): Promise<pg.PoolClient> {
    const client = await fromDriver(this.#pool.connect()).catch((error: unknown) => {
      throw translate(error);
    });
    try {
      if (this.options.pool !== undefined) watch(client);
      return client;
    } catch (error) {
      client.release();
      throw error;
    }
  }

  #wrap(client: pg.PoolClient): Connection {
    const { pool, pooler } = this.options;
    return new Connection(client, this.schema, {
      isShared: pool !== undefined,
      isPooled: pooler === 'transaction',
    });
  }

  #asReadTimeout(error: unknown): unknown {
    if (!(error instanceof StorageUnavailableError)) return error;
    const { statementTimeoutMs, poolSize } = this.options;
    if (sqlStateOf(error) === '57014')
      return new ReadTimeoutError(
        `The read took longer than ${statementTimeoutMs} ms: ask for less, or try again later`,
        { cause: error.cause },
      );
    const isQueued = codeOf(error.cause) === '' && this.#pool.totalCount >= poolSize;
    if (!isQueued) return error;
    return new ReadTimeoutError(
      `All ${poolSize} connections for reads are busy: ask for less, or try again later`,
      { cause: error.cause },
    );
  }

  async #queryOnce<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[]): Promise<Row[]> {
    const { pool, pooler } = this.options;
    if (!this.#setsSettings) return this.#querySession<Row>(statement, values);
    if (pool !== undefined && pooler === 'none') return this.#queryShared<Row>(statement, values);
    return (await this.transactionOnce((client) => client.query<Row>(statement, values))).rows;
  }

  /** Runs one statement on a connection whose session has all settings. */
  async #querySession<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: unknown[],
  ): Promise<Row[]> {
    try {
      const query = { ...this.schema.statement(statement), values };
      return (await fromStorage(this.#pool.query<Row>(query))).rows;
    } catch (error) {
      throw translate(error);
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
      if (result.status === 'rejected') throw translate(result.reason, connectionErrorOf(client));
    return ran.status === 'fulfilled' ? ran.value.rows : [];
  }
}

/** Returns the {@link Schema} that rewrites statements for a store's schema name and distribution. */
export function schemaOf({ schema, distribution }: DatabaseOptions): Schema {
  return new Schema(schema, distribution === 'citus' ? distributedForm : undefined);
}

/** Returns the `pg` configuration that all connections share: where to connect, timeouts, and session settings. */
export function connectionConfig(options: DatabaseOptions, plans: Settings = {}): pg.ClientConfig {
  const { options: given = '', ...connection } = options.connection;
  return {
    ...connection,
    application_name: options.applicationName,
    // Left out behind a pooler, because poolers reject or ignore these options.
    ...(options.pooler === 'none' && {
      options: `${given} ${startupOptions({ ...plans, ...sessionSettings(options) })}`.trim(),
    }),
    connectionTimeoutMillis: options.connectTimeoutMs,
    keepAlive: true,
  };
}
