import { ReadTimeoutError, StorageUnavailableError } from '@longshore/jobs';
import pg from 'pg';
import { endTransaction } from '../control/servers.sql.js';
import { arrayOf } from './array-literal.js';
import {
  indexPlans,
  localSettings,
  sessionSettings,
  type Settings,
  startupOptions,
  transactionTimeout,
} from './settings.js';
import { closePool, createPool, endOf } from './pool.js';
import { codeOf, translate } from './errors.js';
import { storedTypes } from './stored-value.js';
import { unlessAborted } from './unless-aborted.js';
import { UnnamedClient } from './unnamed-client.js';
import { prepared, type Statement } from './statement.js';

/**
 * $1 queues. Until the transaction ends no other one that asks for it changes their jobs. In the order of their numbers, so that
 * two who lock several do not end in a deadlock.
 */
export const lockQueues = prepared(
  'longshore-lock-queues',
  `
    select pg_advisory_xact_lock(('longshore.job'::regclass::oid::bigint << 32) | id)
    from (select distinct id from unnest($1::integer[]) as id order by id) as queue`,
);

/**
 * `transaction`: one like pgbouncer in transaction mode, which gives each transaction another connection, so that nothing
 * outlives it: no prepared statement, no setting, no LISTEN.
 */
export type Pooler = 'none' | 'transaction';

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Most connections of the pool; 10 by default. */
  readonly poolSize: number;
  /** READ COMMITTED set on every transaction; `false` leaves the server's default. */
  readonly useRecommendedIsolationLevel: boolean;
  /** `false`: those who change jobs of a queue do so one after the other. */
  readonly disableGlobalLocks: boolean;
  /** The longest an ordinary statement may take, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** The longest that a handler's transaction may wait for its next statement, in milliseconds. */
  readonly transactionIdleTimeoutMs: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** What stands between this process and Postgres. */
  readonly pooler: Pooler;
  /** Past the pooler, for what needs a session. */
  readonly directUrl: string;
  /** Only reads: what takes too long comes out as {@link ReadTimeoutError}. */
  readonly reads?: boolean;
}

/** Serialization failure and deadlock: the same statement again is expected to succeed. */
const repeatable = /^40(001|P01)$/;

const maxRepeats = 5;

/** What a connection has prepared stays in its memory, and some texts are those of a day. */
const maxLifetimeSeconds = 6 * 3_600;

/** A pool of connections. Every failure that may pass comes out as {@link StorageUnavailableError}. */
export class Database {
  readonly #pool: pg.Pool;
  readonly #begin: string;
  readonly #keptOpen: number;
  readonly options: DatabaseOptions;

  /**
   * Connects when it is first used.
   *
   * @param keptOpen so many connections stay open however idle the process is: to open one takes longer than most of what
   *   is done with it
   */
  constructor(options: DatabaseOptions, plans: Settings = indexPlans, keptOpen = 4) {
    this.options = options;
    this.#keptOpen = Math.min(keptOpen, options.poolSize);
    const pooled = options.pooler === 'transaction';
    const begin = options.useRecommendedIsolationLevel ? 'begin isolation level read committed' : 'begin';
    this.#begin = pooled ? `${begin}; ${localSettings({ ...plans, ...sessionSettings(options) })}` : begin;
    this.#pool = createPool({
      ...connectionConfig(options, plans),
      types: storedTypes,
      max: options.poolSize,
      min: this.#keptOpen,
      maxLifetimeSeconds,
      ...(pooled && { Client: UnnamedClient }),
    });
  }

  /** Runs one statement as a transaction of its own. */
  async query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    try {
      return await repeatedly(() => this.#queryOnce<Row>({ ...statement, values }));
    } catch (error) {
      throw this.options.reads === true ? this.#asReadTimeout(error) : error;
    }
  }

  /** Runs one statement that changes jobs of the queue that is its first value, as a transaction of its own. */
  async write<Row extends pg.QueryResultRow>(
    statement: Statement,
    values: [queueId: number, ...rest: unknown[]],
  ): Promise<Row[]> {
    if (this.options.disableGlobalLocks) return this.query<Row>(statement, values);
    return this.transaction(async (client) => {
      await this.lockQueues(client, [values[0]]);
      return (await client.query<Row>({ ...statement, values })).rows;
    });
  }

  /** Keeps others who change jobs of these queues out until the transaction ends, unless global locks are disabled. */
  async lockQueues(client: pg.ClientBase, queueIds: readonly number[]): Promise<void> {
    if (this.options.disableGlobalLocks) return;
    await client.query({ ...lockQueues, values: [arrayOf(queueIds)] });
  }

  /**
   * Runs several statements in one transaction: all of them or none. Together they may take as long as one of them may
   * (with Postgres 17 or newer), unless the transaction bears the name of a server. One that lost against another is run
   * again, so `work` must change nothing outside of it that another run would not set right.
   *
   * @param settings of Postgres while it lasts
   */
  transaction<Result>(
    work: (client: pg.ClientBase) => Promise<Result>,
    settings?: Settings,
  ): Promise<Result> {
    return repeatedly(() => this.transactionOnce(work, settings));
  }

  /**
   * The same for work that must not be run again, or whose caller does that.
   *
   * @param signal aborted, the transaction ends at once: when this rejects, with the signal's reason, no lock of it is left
   */
  async transactionOnce<Result>(
    work: (client: pg.ClientBase) => Promise<Result>,
    settings: Settings = {},
    signal?: AbortSignal,
  ): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    const pid = await this.#begun(client, settings, signal !== undefined).catch((error: unknown) => {
      client.release(true);
      throw translate(error, endOf(client));
    });
    try {
      const result = await unlessAborted(this.#runAndCommit(client, work), signal);
      client.release();
      return result;
    } catch (error) {
      if (signal?.aborted === true) {
        client.release(true); // closes it, also in the middle of a statement
        await this.query(endTransaction, [pid, settings['application_name'] ?? this.options.applicationName]);
        throw signal.reason;
      }
      // A connection that cannot even roll back is of no use to anyone else.
      const broken = await client.query('rollback').then(
        () => false,
        () => true,
      );
      client.release(broken);
      throw translate(error, endOf(client));
    }
  }

  /** Begins a transaction; the number of the process that carries it out, if that is wanted. */
  async #begun(client: pg.PoolClient, settings: Settings, wanted: boolean): Promise<number | undefined> {
    // What runs for a server lasts as long as a handler's work does; it is ended with the server.
    const bound = 'application_name' in settings ? '' : transactionTimeout(this.options.statementTimeoutMs);
    const process = wanted ? 'select pg_backend_pid() as pid' : '';
    const statements = [this.#begin, localSettings(settings), bound, process];
    const results: unknown = await client.query(statements.filter(Boolean).join('; '));
    if (!wanted) return undefined;
    return (results as readonly pg.QueryResult<{ pid: number }>[]).at(-1)?.rows[0]?.pid;
  }

  async #runAndCommit<Result>(
    client: pg.PoolClient,
    work: (client: pg.ClientBase) => Promise<Result>,
  ): Promise<Result> {
    const result = await work(client);
    // Of a transaction in which a statement failed unheard, Postgres makes a rollback, and calls it a success.
    const { command } = await client.query('commit');
    if (command !== 'COMMIT')
      throw new Error('A statement of the transaction had failed: it was rolled back');
    return result;
  }

  /** Opens the connections that stay open. */
  async connect(): Promise<void> {
    await Promise.all(Array.from({ length: this.#keptOpen }, () => this.query({ text: 'select 1' })));
  }

  /** Lends a connection for what cannot be done in a transaction. */
  async session<Result>(work: (client: pg.ClientBase) => Promise<Result>): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    try {
      return await work(client);
    } catch (error) {
      throw translate(error);
    } finally {
      client.release();
    }
  }

  async close(): Promise<void> {
    await closePool(this.#pool);
  }

  #asReadTimeout(error: unknown): unknown {
    if (!(error instanceof StorageUnavailableError)) return error;
    const { statementTimeoutMs, poolSize } = this.options;
    if (codeOf(error.cause) === '57014')
      return new ReadTimeoutError(
        `The read was not finished within ${statementTimeoutMs} ms: ask for less, or try again later`,
        { cause: error.cause },
      );
    const isQueued = codeOf(error.cause) === '' && this.#pool.totalCount >= poolSize;
    if (!isQueued) return error;
    return new ReadTimeoutError(
      `All ${poolSize} connections for reads are busy: ask for less, or try again later`,
      { cause: error.cause },
    );
  }

  async #queryOnce<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    const { rows } =
      this.options.pooler === 'none'
        ? await this.#pool.query<Row>({ ...query })
        : await this.transactionOnce((client) => client.query<Row>({ ...query })); // for its settings
    return rows;
  }
}

/** Runs a transaction again if it lost against another one. */
export async function repeatedly<Result>(run: () => Promise<Result>): Promise<Result> {
  for (let repeat = 0; ; repeat++) {
    try {
      return await run();
    } catch (error) {
      if (!repeatable.test(codeOf(error))) throw translate(error);
      if (repeat === maxRepeats)
        throw new StorageUnavailableError('Postgres gave the statement up, again and again', {
          cause: error,
        });
    }
  }
}

/** What every connection is opened with. */
export function connectionConfig(options: DatabaseOptions, plans: Settings = {}): pg.ClientConfig {
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    // A pooler's connections are opened by the pooler: it refuses these, or passes over them.
    ...(options.pooler === 'none' && {
      options: startupOptions({ ...plans, ...sessionSettings(options) }),
    }),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
}

export { createPool } from './pool.js';
export { codeOf, isLockTimeout, isOfData, translate } from './errors.js';
