import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { type Postgres, startPostgres } from '../test/system/postgres.js';
import { type Service, startService } from '../test/system/service.js';

const run = promisify(execFile);

const sampleIntervalMs = 1_000;

/** API key with all scopes. */
export const adminKey = 'an-admin-key-that-only-the-fuzz-suite-knows';

/** The real services under test, on a real Postgres. */
export class Stage {
  readonly services: Readonly<Record<'api' | 'worker' | 'dashboard', Service>>;
  /** A second worker. Requests may stop this one, but not the worker in `services`. */
  readonly #spare: Service;
  readonly #postgres: Postgres;
  readonly #directory: string;
  readonly #watch: NodeJS.Timeout;
  /** The peak memory of each process in `services` so far, in bytes. */
  readonly memory = new Map<Service, number>();

  private constructor(
    postgres: Postgres,
    directory: string,
    services: Readonly<Record<'api' | 'worker' | 'dashboard', Service>>,
    spare: Service,
  ) {
    this.#postgres = postgres;
    this.#directory = directory;
    this.services = services;
    this.#spare = spare;
    this.#watch = setInterval(() => void this.#sampleMemory(), sampleIntervalMs);
  }

  static async start(): Promise<Stage> {
    const postgres = await startPostgres();
    const directory = await mkdtemp(path.join(tmpdir(), 'longshore-fuzz-'));
    const environment = {
      API_STORAGE: 'postgres',
      DATABASE_URL: postgres.url,
      WORKER_RESULTS_DIR: directory,
      LONGSHORE_APP: fileURLToPath(new URL('programs/dist/application.js', import.meta.url)),
      LOG_LEVEL: 'warn',
    };
    const api = await startService('api', {
      ...environment,
      API_AUTH: 'keys',
      API_ADMIN_KEY: adminKey,
      API_RATE_LIMIT_PER_SECOND: '0',
      API_ACCEPT_UNKNOWN_JOBS: 'true',
      API_SEED_ROWS: '30',
      API_TEST_JOB_MS: '20',
    });
    const worker = { ...environment, WORKER_CONCURRENCY: '50' };
    const [watched, spare, dashboard] = await Promise.all([
      startService('worker', worker),
      startService('worker', worker),
      startService('dashboard', environment),
    ]);
    return new Stage(postgres, directory, { api, worker: watched, dashboard }, spare);
  }

  async end(): Promise<void> {
    clearInterval(this.#watch);
    const all = [...Object.values(this.services), this.#spare];
    await Promise.all(all.map((service) => service.end('SIGKILL')));
    await this.#postgres.remove();
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #sampleMemory(): Promise<void> {
    const running = Object.values(this.services).filter((service) => service.ending() === null);
    const pids = running.map(({ pid }) => String(pid)).join(',');
    const { stdout } = await run('ps', ['-o', 'pid=,rss=', '-p', pids]).catch(() => ({ stdout: '' }));
    for (const line of stdout.trim().split('\n')) {
      const [pid = 0, kibibytes = 0] = line.trim().split(/\s+/).map(Number);
      const service = running.find((each) => each.pid === pid);
      if (service !== undefined)
        this.memory.set(service, Math.max(kibibytes * 1_024, this.memory.get(service) ?? 0));
    }
  }
}
