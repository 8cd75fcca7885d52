import { type ChildProcess, spawn } from 'node:child_process';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePort } from '@longshore/local-postgres';
import { eventually } from '@longshore/test-support';
import pg from 'pg';

export interface PgBouncer {
  /** Returns the URL of the same database through the pooler. */
  urlOf(url: string): string;
  stop(): Promise<void>;
}

/**
 * Starts pgbouncer in transaction mode for the Postgres server at `postgresUrl`. The database `away` of this pgbouncer
 * points to a port on which nothing listens.
 *
 * @param settings additional lines of the pgbouncer configuration
 */
export async function startPgBouncer(
  postgresUrl: string,
  settings: readonly string[] = [],
): Promise<PgBouncer> {
  const { hostname, port: postgresPort, username, password } = new URL(postgresUrl);
  const port = await freePort();
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-pgbouncer-'));
  const configFile = path.join(directory, 'pgbouncer.ini');
  const users = path.join(directory, 'users.txt');
  await writeFile(users, `"${username}" "${decodeURIComponent(password)}"\n`, { mode: 0o644 });
  const config = [
    '[databases]',
    `away = host=127.0.0.1 port=${await freePort()}`,
    `* = host=${hostname} port=${postgresPort}`,
    '[pgbouncer]',
    'pool_mode = transaction',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = trust',
    `auth_file = ${users}`,
    'default_pool_size = 20',
    'server_idle_timeout = 1', // in seconds; an open connection would keep a database from being dropped
    ...settings,
  ];
  await writeFile(configFile, `${config.join('\n')}\n`);
  await chmod(directory, 0o755);
  const child = spawn('pgbouncer', [...unprivileged(), '-q', configFile], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let errors = '';
  child.stderr.on('data', (chunk: Buffer) => (errors += chunk.toString()));
  const urlOf = (url: string): string => {
    const through = new URL(url);
    through.host = `127.0.0.1:${port}`;
    return through.href;
  };
  await eventually(() => answers(child, urlOf(postgresUrl))).catch((error: unknown) => {
    throw new Error(`pgbouncer did not start: ${errors}`, { cause: error });
  });
  const stop = async (): Promise<void> => {
    child.kill('SIGINT');
    if (child.exitCode === null) await once(child, 'exit');
    await rm(directory, { recursive: true, force: true });
  };
  return { urlOf, stop };
}

/** Returns the arguments that make pgbouncer run as `nobody`, because it refuses to run as root. */
function unprivileged(): string[] {
  return process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
}

async function answers(child: ChildProcess, url: string): Promise<boolean> {
  if (child.exitCode !== null) throw new Error(`It ended with ${child.exitCode}`);
  const client = new pg.Client({ connectionString: url });
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => undefined);
  }
}
