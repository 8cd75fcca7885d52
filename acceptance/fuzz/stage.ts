import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { type Postgres, startPostgres } from '../test/system/postgres.js';
import { type Service, startService } from '../test/system/service.js';

const run = promisify(execFile);

/** Starting takes long on a machine under load. */
const startMs = 60_000;
const lookMs = 1_000;

/** Opens everything but what its confined or read-only keys may not. */
export const adminKey = 'an-admin-key-that-only-the-fuzz-suite-knows';

/** Real services on a real Postgres. */
export class Stage {
  readonly api: Service;
  readonly worker: Service;
  readonly dashboard: Service;
  readonly #postgres: Postgres;
  readonly #directory: string;
  readonly #watch: NodeJS.Timeout;
  /** The most memory that each process was seen with, in bytes. */
  readonly memory = new Map<Service, number>();

  private constructor(
    postgres: Postgres,
    directory: string,
    [api, worker, dashboard]: readonly [Service, Service, Service],
  ) {
    this.#postgres = postgres;
    this.#directory = directory;
    this.api = api;
    this.worker = worker;
    this.dashboard = dashboard;
    this.#watch = setInterval(() => void this.#weigh(), lookMs);
  }

  static async start(): Promise<Stage> {
    const postgres = await startPostgres();
    const directory = await mkdtemp(path.join(tmpdir(), 'longshore-fuzz-'));
    const environment = {
      STORAGE: 'postgres',
      DATABASE_URL: postgres.url,
      RESULTS_DIR: directory,
      LONGSHORE_APP: fileURLToPath(new URL('programs/dist/application.js', import.meta.url)),
      LOG_LEVEL: 'warn',
    };
    const api = await startService(
      'api',
      {
        ...environment,
        API_AUTH: 'keys',
        API_ADMIN_KEY: adminKey,
        RATE_LIMIT_PER_SECOND: '0',
        ACCEPT_UNKNOWN_JOBS: 'true',
        SEED_ROWS: '30',
        TEST_JOB_MS: '20',
      },
      startMs,
    );
    const others = await Promise.all([
      startService('worker', { ...environment, WORKER_CONCURRENCY: '50' }, startMs),
      startService('dashboard', environment, startMs),
    ]);
    return new Stage(postgres, directory, [api, ...others]);
  }

  get services(): Readonly<Record<string, Service>> {
    return { api: this.api, worker: this.worker, dashboard: this.dashboard };
  }

  async end(): Promise<void> {
    clearInterval(this.#watch);
    await Promise.all(Object.values(this.services).map((service) => service.end('SIGKILL')));
    await this.#postgres.remove();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #weigh(): Promise<void> {
    for (const service of Object.values(this.services)) {
      if (service.ending() !== null) continue;
      const { stdout } = await run('ps', ['-o', 'rss=', '-p', String(service.pid)]).catch(() => ({
        stdout: '',
      }));
      const bytes = Number(stdout.trim()) * 1_024;
      this.memory.set(service, Math.max(bytes, this.memory.get(service) ?? 0));
    }
  }
}
