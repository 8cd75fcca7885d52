import { fileURLToPath } from 'node:url';
import type { PGlite } from '@electric-sql/pglite';
import { runner } from 'node-pg-migrate';
import pg from 'pg';
import type { Database, PooledConnection, QueryResult } from './database.js';

/** A schema, and the directory that contains its migrations for node-pg-migrate. */
export interface MemoryDatabaseMigrations {
  readonly directory: URL;
  readonly schema: string;
}

interface Opened {
  readonly postgres: PGlite;
  readonly pool: pg.Pool;
}

/**
 * A Postgres compiled to WebAssembly, in the memory of this process, with the extension `pg_trgm`. It starts on first
 * use; this takes a few seconds and 350 MB (docs/adr/016). The data is lost when the process ends. There is only one
 * connection, so transactions wait for one another. Each statement blocks the process while it runs.
 * @throws {Error} from the first statement, if `@electric-sql/pglite`, an optional peer dependency, is not installed
 */
export class MemoryDatabase implements Database {
  readonly #migrations: MemoryDatabaseMigrations[] = [];
  #opened: Promise<Opened> | undefined;

  /** `pool` serves writes and `reads` serves reads. Both are this database. */
  readonly pool: Database = this;
  readonly reads: Database = this;

  async query<Row extends object>(text: string, values?: unknown[]): Promise<QueryResult<Row>> {
    const { pool } = await this.#open();
    return pool.query<Row & pg.QueryResultRow>(text, values);
  }

  async connect(): Promise<PooledConnection> {
    const { pool } = await this.#open();
    return pool.connect();
  }

  /**
   * Adds migrations. They run when the database is first used.
   *
   * @throws {Error} if the database has already been used
   */
  async migrate(migrations: MemoryDatabaseMigrations): Promise<void> {
    if (this.#opened !== undefined)
      throw new Error('The database is in use: migrate it before the first statement');
    this.#migrations.push(migrations);
  }

  /** Ends the connection and frees the memory. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined); // a database that failed to open is already closed
    await opened?.pool.end();
    await opened?.postgres.close();
  }

  #open(): Promise<Opened> {
    this.#opened ??= open(this.#migrations);
    return this.#opened;
  }
}

/** Starts the database and runs the migrations. Imports PGlite only here, because most processes never use it. */
async function open(migrations: readonly MemoryDatabaseMigrations[]): Promise<Opened> {
  const [{ PGlite }, { createPgConfig }, { pg_trgm }] = await Promise.all([
    import('@electric-sql/pglite'),
    import('@electric-sql/pglite/node-postgres'),
    import('@electric-sql/pglite/contrib/pg_trgm'),
  ]).catch((error: unknown) => {
    throw new Error('Tables in memory need PGlite: npm install @electric-sql/pglite, or use Postgres', {
      cause: error,
    });
  });
  const postgres = await PGlite.create({ extensions: { pg_trgm } });
  const pool = new pg.Pool(Object.assign(createPgConfig(postgres), { max: 1, idleTimeoutMillis: 0 }));
  try {
    for (const migration of migrations) await apply(migration, pool);
  } catch (error) {
    await pool.end();
    await postgres.close();
    throw error;
  }
  return { postgres, pool };
}

/** @throws {Error} if a migration fails; the message contains its name */
async function apply({ directory, schema }: MemoryDatabaseMigrations, pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  const dir = fileURLToPath(directory);
  let name = '';
  try {
    await runner({
      dbClient: client,
      dir,
      direction: 'up',
      migrationsTable: 'migration',
      schema,
      createSchema: true,
      singleTransaction: true,
      log: (line) => (name = /^### MIGRATION (\S+) \(UP\)/.exec(line)?.[1] ?? name),
    }).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      throw new Error(`The migration ${name} in ${dir} failed: ${reason}`, { cause: error });
    });
    await client.query('reset all'); // the migrations have changed the search path of the only connection
  } finally {
    client.release();
  }
}
