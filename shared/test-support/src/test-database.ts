import pg from 'pg';
import { eventually } from './eventually.js';
import { testPostgres } from './test-postgres.js';

/** Prepares the empty database at `url` for tests, and closes all connections to it. */
export type Migrate = (url: string) => Promise<unknown>;

export interface TestDatabase {
  readonly name: string;
  readonly url: string;
  /** Runs one statement on its own connection and returns the rows. */
  query<Row extends pg.QueryResultRow>(sql: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Returns how many connections to this database are waiting for a lock, including advisory locks. */
  waitingForLocks(): Promise<number>;
  /**
   * Resolves when all clients with an application name that starts with `applicationName` have disconnected. By then,
   * Postgres's statistics include their work. Rejects if a client stays connected.
   */
  disconnected(applicationName: string): Promise<void>;
  /**
   * Waits until all clients have disconnected, and drops the database. If a client is still connected after the
   * checks, drops the database anyway and rejects, so that a test with a leaked pool fails. With Citus, drops the
   * database immediately, even if clients are connected.
   *
   * @param checks number of checks after which to give up, see {@link eventually}
   */
  drop(checks?: number): Promise<void>;
}

const templates = new Map<Migrate, Promise<string>>();
const open = new Map<string, string>();
let created = 0;

/**
 * The connection for creating and dropping databases. It stays open between tests, because connecting takes longer than
 * most statements.
 */
let admin: Promise<pg.Client> | undefined;

/**
 * Creates an empty database or, with `migrate`, a clone of a template. `migrate` prepares the template only once for
 * all callers that pass the same function. The test run fails at the end if `drop` has not been called.
 */
export async function createTestDatabase(migrate?: Migrate): Promise<TestDatabase> {
  const creator = new Error('created here').stack ?? '';
  const template = migrate && (await templateOf(migrate));
  const database = await createDatabase(template);
  open.set(database.name, creator);
  const drop = async (checks?: number): Promise<void> => {
    open.delete(database.name);
    await dropDatabase(database.name, creator, checks);
  };
  const query = <Row extends pg.QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> =>
    runOn(database.url, async (client) => (await client.query<Row>(sql, [...values])).rows);
  const waitingForLocks = (): Promise<number> => lockWaits(database.url);
  const disconnected = (application: string): Promise<void> =>
    untilDisconnected(database.name, creator, { application });
  return { ...database, query, waitingForLocks, disconnected, drop };
}

/**
 * Returns a stack trace for each database that has not been dropped. The trace shows where the database was created.
 */
export function undroppedDatabases(): string[] {
  return [...open.values()];
}

/** Drops the templates and closes the connection. Must be the last call to this module. */
export async function dropTemplates(): Promise<void> {
  const names = await Promise.all(templates.values());
  templates.clear();
  for (const name of names) await dropDatabase(name, 'a migrate function');
  await (await admin)?.end();
  admin = undefined;
}

function templateOf(migrate: Migrate): Promise<string> {
  const known = templates.get(migrate) ?? prepareTemplate(migrate);
  templates.set(migrate, known);
  return known;
}

async function prepareTemplate(migrate: Migrate): Promise<string> {
  const { name, url } = await createDatabase();
  await migrate(url);
  await untilDisconnected(name, 'its migrate function');
  return name;
}

async function createDatabase(template?: string): Promise<{ name: string; url: string }> {
  const { url } = await testPostgres();
  created += 1;
  const name = `longshore_test_${process.pid}_${created}`;
  const source = template ?? 'template1';
  // In a measurement, `file_copy` took 170 ms, and the default strategy took 200 to 400 ms.
  await administer(`create database ${name} template ${source} strategy file_copy`);
  const own = new URL(url);
  own.pathname = `/${name}`;
  return { name, url: own.href };
}

async function dropDatabase(name: string, creator: string, checks?: number): Promise<void> {
  try {
    await untilDisconnected(name, creator, { checks });
  } finally {
    await administer(`drop database if exists ${name} with (force)`);
  }
}

async function untilDisconnected(
  name: string,
  creator: string,
  { application = '', checks }: { application?: string; checks?: number | undefined } = {},
): Promise<void> {
  let connected: { application_name: string; query: string }[] = [];
  const disconnected = async (): Promise<boolean> => {
    connected = await administer(
      `select application_name, query from pg_stat_activity
       where datname = $1 and backend_type = 'client backend' and starts_with(application_name, $2)`,
      [name, application],
    );
    return connected.length === 0;
  };
  await eventually(disconnected, checks === undefined ? {} : { checks }).catch((error: unknown) => {
    const list = connected.map((one) => `  ${one.application_name}: ${one.query}`).join('\n');
    throw new Error(`Connections left open to ${name}:\n${list}\n${creator}`, { cause: error });
  });
}

async function administer<Row extends pg.QueryResultRow>(
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  admin ??= testPostgres().then(({ url }) => connect(url));
  return (await (await admin).query<Row>(sql, [...values])).rows;
}

/** Returns how many connections to the database are waiting for a lock. */
export function lockWaits(url: string): Promise<number> {
  return runOn(url, async (client) => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return rowCount ?? 0;
  });
}

/** Calls `work` with a new connection, and closes the connection afterwards. */
export async function runOn<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test-support' });
  client.on('error', () => undefined); // a lost connection must not end the process; the next query fails
  await client.connect();
  return client;
}
