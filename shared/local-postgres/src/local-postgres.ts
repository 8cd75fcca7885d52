import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type pg from 'pg';
import { findBinaries } from './binaries.js';
import { existingCluster, openCluster, type Cluster } from './cluster.js';
import { freePort } from './free-port.js';
import { launch, type PostgresProcess } from './launch.js';
import { clearStaleLock, portOfRunning } from './lock-file.js';

export interface LocalPostgresOptions {
  /**
   * The directory for the data and the password. Created if missing, and kept after `stop`. Only one Postgres can use
   * it at a time.
   */
  readonly directory: string;
  /** TCP port on 127.0.0.1; a free port by default. */
  readonly port?: number;
  /** The name of the database; `longshore` by default. The database is created if missing. */
  readonly database?: string;
  /** Whether the data survives a power failure; `true` by default. `false` makes Postgres faster, for tests. */
  readonly durable?: boolean;
  /** Additional settings, named as in postgresql.conf; none by default. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with each line that Postgres logs. */
  readonly onLog?: (line: string) => void;
}

export interface LocalPostgres {
  /** The `postgres://…` URL of the database, with the superuser's name and password. */
  readonly url: string;
  readonly port: number;
  /** Resolves when the Postgres process has ended, for whatever reason; never rejects. */
  readonly ended: Promise<void>;
  /** Disconnects all clients, stops Postgres and waits until it has ended. Can be called more than once. */
  stop(): Promise<void>;
}

/**
 * Time limit for the final checkpoint when Postgres is stopped, in milliseconds. After that, an immediate
 * shutdown (SIGQUIT) ends Postgres, which then recovers at the next start.
 */
const stopDeadlineMs = 2_500;

const fastSettings = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: '0',
  autovacuum_naptime: '10min',
};

/**
 * Starts the Postgres that npm has installed. Resolves when Postgres accepts connections. Postgres is stopped when this
 * process exits.
 *
 * @throws if there are no binaries for this platform, if this process runs as root on a system other than Linux, if a
 *   Postgres is already running on the directory, or if Postgres does not start; in the last case, the error contains
 *   the last lines of the log
 */
export async function startLocalPostgres(options: LocalPostgresOptions): Promise<LocalPostgres> {
  const directory = path.resolve(options.directory);
  await mkdir(directory, { recursive: true });
  const binaries = await findBinaries();
  const cluster = await openCluster(binaries, directory);
  await clearStaleLock(cluster.data);

  const port = options.port ?? (await freePort());
  const child = launch(binaries.postgres, ['-D', cluster.data, '-p', String(port), ...settingsOf(options)]);
  const ended = new Promise<void>((resolve) => void child.once('close', () => resolve()));
  const interrupt = (): void => void child.kill('SIGINT');
  process.once('exit', interrupt);
  void ended.then(() => process.off('exit', interrupt));

  const database = options.database ?? 'longshore';
  try {
    // Loads the driver while Postgres starts, because both take about the same time.
    const [{ default: pg }] = await Promise.all([import('pg'), untilReady(child, options.onLog)]);
    await createDatabase(pg, urlOf(cluster, port, 'postgres'), database);
  } catch (error) {
    await stop(child, ended);
    throw error;
  }
  return { url: urlOf(cluster, port, database), port, ended, stop: () => stop(child, ended) };
}

/**
 * Returns the URL of the Postgres that another process has started on a directory; `null` if none is running.
 *
 * @param database the name of the database, which must exist
 */
export async function runningPostgresUrl(directory: string, database = 'longshore'): Promise<string | null> {
  const cluster = await existingCluster(path.resolve(directory));
  const port = cluster === null ? null : await portOfRunning(cluster.data);
  return cluster === null || port === null ? null : urlOf(cluster, port, database);
}

function settingsOf({ durable = true, settings = {} }: LocalPostgresOptions): string[] {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    ...(durable ? {} : fastSettings),
    ...settings,
  };
  return Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

/** Waits for the log line that reports readiness. The line is in English, because the cluster has no locale. */
function untilReady(child: PostgresProcess, onLog: ((line: string) => void) | undefined): Promise<void> {
  const recent: string[] = [];
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      onLog?.(line);
      if (line.includes('ready to accept connections')) resolve();
      recent.push(line);
      if (recent.length > 20) recent.shift();
    });
    child.once('error', reject);
    child.once('close', () => reject(new Error(`Postgres did not start:\n${recent.join('\n')}`)));
  });
}

async function createDatabase({ Client }: typeof pg, url: string, name: string): Promise<void> {
  const client = new Client(url);
  await client.connect();
  try {
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name]);
    if (rowCount === 0) await client.query(`create database ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

function urlOf({ user, password }: Cluster, port: number, database: string): string {
  return `postgres://${user}:${password}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
}

async function stop(child: PostgresProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGINT');
  const killTimer = setTimeout(() => child.kill('SIGQUIT'), stopDeadlineMs);
  await ended;
  clearTimeout(killTimer);
}
