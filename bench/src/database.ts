import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { startLocalPostgres } from '@longshore/local-postgres';
import pg from 'pg';
import { processorTime } from './processor-time.js';

const data = fileURLToPath(new URL('../../.data/bench/', import.meta.url));

/**
 * The settings that differ from Postgres's defaults, chosen for current hardware. None of them trades durability for
 * speed.
 */
export const databaseSettings = {
  shared_buffers: '512MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  max_connections: '2000', // `idle-fleet` starts a hundred servers, and each briefly uses its whole pool
} as const;

/** Settings that {@link BenchDatabase.statements} requires. They slow down every statement slightly. */
const statementSettings = {
  shared_preload_libraries: 'pg_stat_statements',
  'pg_stat_statements.track_planning': 'on',
} as const;

/** The Postgres server of a benchmark run, with a database for each contender. */
export class BenchDatabase {
  readonly #url: string;
  readonly #stop: () => Promise<void>;
  readonly #admin: pg.Client;
  readonly #pid: number;
  #made = 0;
  #stopped: Promise<void> | undefined;

  private constructor(parts: { url: string; admin: pg.Client; pid: number; stop: () => Promise<void> }) {
    this.#url = parts.url;
    this.#admin = parts.admin;
    this.#pid = parts.pid;
    this.#stop = parts.stop;
  }

  static async start(options: { statements: boolean }): Promise<BenchDatabase> {
    await mkdir(data, { recursive: true });
    const directory = await mkdtemp(path.join(data, 'postgres-'));
    const settings = { ...databaseSettings, ...(options.statements && statementSettings) };
    const postgres = await startLocalPostgres({ directory, settings });
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    if (options.statements) await admin.query('create extension pg_stat_statements');
    const stop = async (): Promise<void> => {
      await admin.end();
      await postgres.stop();
      await rm(directory, { recursive: true, force: true });
    };
    const { rows } = await admin.query<{ file: string }>(
      `select current_setting('data_directory') || '/postmaster.pid' as file`,
    );
    const [pid] = (await readFile(rows[0]?.file ?? '', 'utf8')).split('\n');
    return new BenchDatabase({ url: postgres.url, admin, pid: Number(pid), stop });
  }

  async version(): Promise<string> {
    const { rows } = await this.#admin.query<{ server_version: string }>('show server_version');
    return rows[0]?.server_version ?? 'unknown';
  }

  /** Creates an empty database and returns its URL. */
  async create(): Promise<string> {
    const name = `bench_${++this.#made}`;
    await this.#admin.query(`create database ${name}`);
    const url = new URL(this.#url);
    url.pathname = `/${name}`;
    return url.href;
  }

  async drop(url: string): Promise<void> {
    await this.#admin.query(`drop database ${new URL(url).pathname.slice(1)} with (force)`);
  }

  /** Makes Postgres write all earlier changes to disk, so that these writes do not slow down the next measurement. */
  async settle(): Promise<void> {
    await this.#admin.query('checkpoint');
  }

  /** Returns the CPU time of all Postgres processes so far, in milliseconds; `null` if the system lacks /proc. */
  processorTime(): Promise<number | null> {
    return processorTime(this.#pid);
  }

  /** Returns the eight statements of a database with the highest total time, planning included, highest first. */
  async statements(url: string): Promise<StatementCost[]> {
    const { rows } = await this.#admin.query<StatementCost>(
      `select calls::integer, mean_exec_time as "execMs", total_plan_time / calls as "planMs", rows::integer,
          wal_bytes::float8 as "walBytes", query
        from pg_stat_statements join pg_database on pg_database.oid = dbid
        where datname = $1 order by total_exec_time + total_plan_time desc limit 8`,
      [new URL(url).pathname.slice(1)],
    );
    return rows;
  }

  /** Stops Postgres and deletes its data. May be called more than once. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }
}

export interface StatementCost {
  readonly calls: number;
  /** Mean execution time per call, in milliseconds, without planning. */
  readonly execMs: number;
  /** Total planning time divided by the number of calls, in milliseconds. */
  readonly planMs: number;
  readonly rows: number;
  readonly walBytes: number;
  readonly query: string;
}

/** Runs `work` on a new connection, and then closes the connection. */
export async function connected<Result>(
  url: string,
  work: (client: pg.Client) => Promise<Result>,
): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
