import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { appendFile, chown, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@longshore/test-support';
import pg from 'pg';
import { freePort } from '../test/system/service.js';

/** The programs of a complete Postgres; the one that npm installs has neither `pg_basebackup` nor `pg_dump`. */
const bin = process.env['POSTGRES_BIN'] ?? '/usr/lib/postgresql/15/bin';

function programAt(name: string): string {
  const file = path.join(bin, name);
  if (existsSync(file)) return file;
  throw new Error(
    `There is no ${file}: install postgresql-15, or set POSTGRES_BIN to the directory with the programs of Postgres`,
  );
}

/** The user id of `nobody`, as whom Postgres runs if this process is that of root. */
const unprivilegedId = 65534;

const isRoot = process.getuid?.() === 0;
const unprivileged = isRoot
  ? ['setpriv', `--reuid=${unprivilegedId}`, `--regid=${unprivilegedId}`, '--clear-groups']
  : [];

const user = 'longshore';
const password = 'longshore';

/** Runs a program of Postgres, as a user that is not root, and returns what it writes. */
export async function runPostgresProgram(name: string, args: readonly string[]): Promise<string> {
  const [command = '', ...rest] = [...unprivileged, programAt(name), ...args];
  const env = { ...process.env, PGPASSWORD: password };
  return (await promisify(execFile)(command, rest, { env, maxBuffer: 1 << 28 })).stdout;
}

/** Creates a directory that Postgres can write to. */
export async function makeDirectory(directory: string): Promise<string> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  if (isRoot) await chown(directory, unprivilegedId, unprivilegedId);
  return directory;
}

/** Where a server listens; on a free port of 127.0.0.1 by default. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

async function freeAddress(): Promise<Address> {
  return { host: '127.0.0.1', port: await freePort() };
}

/** A Postgres server with a data directory and an address of its own. */
export class PostgresNode {
  readonly data: string;
  readonly address: Address;
  #process: ChildProcess | undefined;

  private constructor(data: string, address: Address) {
    this.data = data;
    this.address = address;
  }

  /** Creates a cluster that can have standbys, with the empty database `jobs`, and starts it. */
  static async create(
    data: string,
    settings: Readonly<Record<string, string>> = {},
    address?: Address,
  ): Promise<PostgresNode> {
    await makeDirectory(path.dirname(data));
    const file = path.join(path.dirname(data), 'password');
    await writeFile(file, password, { mode: 0o644 });
    await runPostgresProgram('initdb', [
      `--pgdata=${data}`,
      `--username=${user}`,
      `--pwfile=${file}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--no-locale',
    ]);
    await appendFile(path.join(data, 'pg_hba.conf'), 'host all,replication all 127.0.0.0/8 scram-sha-256\n');
    const node = new PostgresNode(data, address ?? (await freeAddress()));
    await node.start(settings);
    await node.query('postgres', 'create database jobs');
    return node;
  }

  /** Returns a node for a copy of a cluster, which is not started. */
  static async of(data: string, address?: Address): Promise<PostgresNode> {
    return new PostgresNode(data, address ?? (await freeAddress()));
  }

  get url(): string {
    return this.urlOf('jobs');
  }

  urlOf(database: string): string {
    return `postgres://${user}:${password}@${this.address.host}:${this.address.port}/${database}`;
  }

  /** Starts the server, and resolves when it accepts connections. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = {
      listen_addresses: this.address.host,
      unix_socket_directories: '',
      max_connections: '200',
      wal_level: 'replica',
      ...settings,
    };
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    // The kernel ends the server when this process dies.
    const args = [
      '--pdeathsig=INT',
      ...unprivileged.slice(1),
      programAt('postgres'),
      '-D',
      this.data,
      '-p',
      String(this.address.port),
      ...options,
    ];
    this.#process = spawn('setpriv', args, { stdio: 'ignore' });
    await eventually(
      async () => {
        if (this.#process?.exitCode !== null) throw new Error(`Postgres did not start on ${this.data}`);
        return this.query('postgres', 'select 1').catch(() => null);
      },
      (rows) => rows !== null,
    );
  }

  /** Makes a copy of the running server with `pg_basebackup`, which starts as a standby of it. */
  async makeStandby(data: string, name: string, address?: Address): Promise<PostgresNode> {
    await this.backUp(data, ['--write-recovery-conf']);
    const standby = await PostgresNode.of(data, address);
    const source = `host=${this.address.host} port=${this.address.port} user=${user} password=${password} application_name=${name}`;
    await appendFile(path.join(data, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    await standby.start();
    return standby;
  }

  /** Makes a base backup. */
  async backUp(data: string, options: readonly string[] = []): Promise<void> {
    const connection = this.urlOf('postgres');
    await runPostgresProgram('pg_basebackup', [
      `--dbname=${connection}`,
      `--pgdata=${data}`,
      '--checkpoint=fast',
      '--wal-method=stream',
      ...options,
    ]);
  }

  /** Promotes a standby, and resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.query('postgres', 'select pg_promote(true, 60)');
  }

  async query<Row extends pg.QueryResultRow>(
    database: string,
    text: string,
    values: unknown[] = [],
  ): Promise<Row[]> {
    const client = new pg.Client(this.urlOf(database));
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end();
    }
  }

  /** Ends the server: `SIGINT` cuts off all clients, `SIGQUIT` leaves a server that has to recover. */
  async stop(signal: 'SIGINT' | 'SIGQUIT' = 'SIGINT'): Promise<void> {
    const server = this.#process;
    if (server === undefined || server.exitCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  /** Stops the server and deletes its data. */
  async remove(): Promise<void> {
    await this.stop();
    await rm(this.data, { recursive: true, force: true });
  }
}
