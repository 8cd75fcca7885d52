import { StorageUnavailableError } from '@longshore/jobs';
import pg from 'pg';

export interface DatabaseOptions {
  /** `postgres://user:password@host:port/database` */
  readonly url: string;
  /** Most connections of the pool; 10 by default. */
  readonly poolSize: number;
  /** READ COMMITTED set on every transaction; `false` leaves the server's default. */
  readonly useRecommendedIsolationLevel: boolean;
  /** The longest an ordinary statement may take, in milliseconds. */
  readonly statementTimeoutMs: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
}

/** One with a name is prepared once in each connection, so one name must always have the same text. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
}

/**
 * Every statement of the store is written for nested loops over index look-ups. The tables shrink to nothing and grow by a
 * hundred thousand rows between two visits of autovacuum, so a planner that goes by their statistics would at some moment
 * choose to read them whole, keep that plan, and stall the queue. Planned once for all values: to plan a claim anew takes
 * as long as to run it.
 */
const indexPlans: readonly string[] = [
  ...['enable_seqscan', 'enable_bitmapscan', 'enable_hashjoin', 'enable_mergejoin'].map(
    (setting) => `-c ${setting}=off`,
  ),
  '-c plan_cache_mode=force_generic_plan',
];

/**
 * People's searches leave the choice to the planner, which knows their values; some need a bitmap scan (the index on what
 * jobs carry is a GIN index). To compile such a query takes longer than to run it.
 */
export const searchPlans: readonly string[] = ['-c random_page_cost=1.1', '-c jit=off'];

/** SQLSTATEs (classes, or whole codes) that say: not now. See the appendix “PostgreSQL Error Codes”. */
const unavailable = [/^08/, /^53/, /^57P/, /^57014$/, /^55P03$/];

/** Serialization failure and deadlock: the same statement again is expected to succeed. */
const repeatable = /^40(001|P01)$/;

const maxRepeats = 5;

/** A pool of connections. Every failure that may pass comes out as {@link StorageUnavailableError}. */
export class Database {
  readonly #pool: pg.Pool;
  readonly options: DatabaseOptions;

  /** Connects when it is first used. */
  constructor(options: DatabaseOptions, plans: readonly string[] = indexPlans) {
    this.options = options;
    this.#pool = createPool({ ...connectionConfig(options, plans), max: options.poolSize });
  }

  /** Runs one statement as a transaction of its own. */
  async query<Row extends pg.QueryResultRow>(statement: Statement, values: unknown[] = []): Promise<Row[]> {
    for (let repeat = 0; ; repeat++) {
      try {
        const { rows } = await this.#pool.query<Row>({ ...statement, values });
        return rows;
      } catch (error) {
        if (repeat < maxRepeats && repeatable.test(codeOf(error))) continue;
        throw translate(error);
      }
    }
  }

  /**
   * Runs several statements in one transaction: all of them or none.
   *
   * @param name shown as the connection's while it lasts
   */
  async transaction<Result>(
    work: (client: pg.ClientBase) => Promise<Result>,
    name?: string,
  ): Promise<Result> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw translate(error);
    });
    try {
      const rename = name === undefined ? '' : `; set local application_name = ${client.escapeLiteral(name)}`;
      await client.query(`begin${rename}`);
      const result = await work(client);
      await client.query('commit');
      client.release();
      return result;
    } catch (error) {
      // A connection that cannot even roll back is of no use to anyone else.
      const broken = await client.query('rollback').then(
        () => false,
        () => true,
      );
      client.release(broken);
      throw translate(error);
    }
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }
}

/**
 * What every connection is opened with.
 *
 * @param further command-line options for the connection's backend
 */
export function connectionConfig(options: DatabaseOptions, further: readonly string[] = []): pg.ClientConfig {
  const settings = [
    ...further,
    `-c statement_timeout=${options.statementTimeoutMs}`,
    '-c idle_in_transaction_session_timeout=60000',
    ...(options.useRecommendedIsolationLevel
      ? [String.raw`-c default_transaction_isolation=read\ committed`]
      : []),
  ];
  return {
    connectionString: options.url,
    application_name: options.applicationName,
    options: settings.join(' '),
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
  };
}

/** A pool that gets over the loss of any of its connections. */
export function createPool(config: pg.PoolConfig): pg.Pool {
  const pool = new pg.Pool(config);
  pool.on('error', () => undefined); // an idle connection was cut: the pool drops it and opens another
  // One was cut between two queries of a transaction: the next query fails. Unheard, the event would end the process.
  pool.on('connect', (client) => void client.on('error', () => undefined));
  return pool;
}

export function codeOf(error: unknown): string {
  const code: unknown = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : '';
}

/** The error as the storage contract names it. */
export function translate(error: unknown): unknown {
  if (error instanceof StorageUnavailableError || !isUnavailable(error)) return error;
  const reason =
    codeOf(error) === '57014'
      ? 'Postgres was still at it when the time for the statement was up'
      : 'Postgres cannot be reached or gave up for now';
  return new StorageUnavailableError(reason, { cause: error });
}

function isUnavailable(error: unknown): boolean {
  const code = codeOf(error);
  if (/^[0-9A-Z]{5}$/.test(code)) return unavailable.some((pattern) => pattern.test(code));
  // What has no SQLSTATE comes from the network or from the driver's own timeouts.
  return error instanceof Error && (code !== '' || /connection|timeout|terminat/i.test(error.message));
}
