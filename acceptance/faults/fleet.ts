import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '@longshore/test-support';
import { patience, startService, type Service } from '../test/system/service.js';

type Environment = Readonly<Record<string, string>>;

/** Database pool size of each worker. The smallest size that a service accepts is 2. */
const poolSizes = [10, 5, 2, 2];

const apiCount = 2;

/** Unset, so that the services have their own time limits instead of those of the other tests. */
const defaults = Object.fromEntries(Object.keys(patience).map((name) => [name, '']));

/** The services under test: two API processes and several workers, each with an adjustable clock. */
export class Fleet {
  readonly #environment: Environment;
  readonly #clocks: string;
  readonly #workers: Service[] = [];
  readonly #apis: Service[] = [];
  /** Indexes of the workers that a fault or `revive` has reserved. */
  readonly #taken = new Set<number>();
  /** Processes that the suite has started and not stopped. Includes those that exited unexpectedly. */
  readonly #expected = new Set<Service>();

  private constructor(environment: Environment, clocks: string) {
    this.#environment = environment;
    this.#clocks = clocks;
  }

  static async start(databaseUrl: string, distribution: 'none' | 'citus'): Promise<Fleet> {
    const environment = {
      API_STORAGE: 'postgres',
      DATABASE_URL: databaseUrl,
      DATABASE_DISTRIBUTION: distribution,
      LONGSHORE_APP: fileURLToPath(new URL('programs/dist/application.js', import.meta.url)),
      LOG_LEVEL: 'warn',
      ...defaults,
      NODE_OPTIONS: `--import ${new URL('programs/dist/clock.js', import.meta.url).href}`,
      WORKER_SERVER_TIMEOUT_MS: '5000',
      WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS: '10000',
      WORKER_STOP_TIMEOUT_MS: '5000',
      WORKER_CONCURRENCY: '20',
    };
    const fleet = new Fleet(environment, await mkdtemp(path.join(tmpdir(), 'longshore-clocks-')));
    await Promise.all([
      ...Array.from({ length: apiCount }, (_, index) => fleet.#startApi(index)),
      ...poolSizes.map((_, index) => fleet.startWorker(index)),
    ]);
    return fleet;
  }

  get apiUrls(): string[] {
    return this.#apis.map(({ url }) => url);
  }

  get workerUrls(): string[] {
    return this.#workers.map(({ url }) => url);
  }

  get size(): number {
    return poolSizes.length;
  }

  /** Names of the processes for {@link setClock}, such as `worker-0` and `api-1`. */
  get processes(): string[] {
    return [
      ...poolSizes.map((_, index) => `worker-${index}`),
      ...Array.from({ length: apiCount }, (_, index) => `api-${index}`),
    ];
  }

  worker(index: number): Service {
    const worker = this.#workers[index];
    if (worker === undefined) throw new Error(`No worker ${index}`);
    return worker;
  }

  /**
   * Waits until at least `count` workers are free. Reserves `count` of them at random, and passes their indexes to
   * `work`. Releases the workers when `work` ends.
   */
  async withWorkers<Result>(
    count: number,
    random: () => number,
    work: (indexes: readonly number[]) => Promise<Result>,
  ): Promise<Result> {
    const free = (): number[] =>
      poolSizes.map((_, index) => index).filter((index) => !this.#taken.has(index));
    // Other faults may keep the workers that they have reserved for as long as a recovery takes.
    const left = await eventually(free, ({ length }) => length >= count, { checks: 6_000, everyMs: 100 });
    const taken = Array.from({ length: count }, () =>
      left.splice(Math.floor(random() * left.length), 1),
    ).flat();
    for (const index of taken) this.#taken.add(index);
    try {
      return await work(taken);
    } finally {
      for (const index of taken) this.#taken.delete(index);
    }
  }

  /**
   * Sets a process's clock ahead of the real time by `aheadMs` milliseconds, or behind if negative. Can be called
   * before the process is started.
   */
  setClock(process: string, aheadMs: number): Promise<void> {
    return writeFile(path.join(this.#clocks, process), String(aheadMs));
  }

  /** Starts the worker with this index, which must not be running. */
  async startWorker(index: number): Promise<void> {
    const pool = { DATABASE_POOL_SIZE: String(poolSizes[index]) };
    this.#workers[index] = await this.#start('worker', index, pool);
  }

  async endWorker(index: number, signal: NodeJS.Signals): Promise<void> {
    const worker = this.worker(index);
    this.#expected.delete(worker);
    await worker.end(signal);
  }

  /**
   * Restarts workers that have exited, as a supervisor would. Skips reserved workers. The report still lists the exits.
   */
  async revive(): Promise<void> {
    const ended = this.#workers.flatMap(({ ending }, index) =>
      ending() === null || this.#taken.has(index) ? [] : [index],
    );
    for (const index of ended) this.#taken.add(index);
    await Promise.all(ended.map((index) => this.startWorker(index).finally(() => this.#taken.delete(index))));
  }

  /** Describes each process that exited unexpectedly: how it ended, and its last output. */
  endedByThemselves(): string[] {
    return [...this.#expected]
      .filter((service) => service.ending() !== null)
      .map((service) => `${service.ending()}: ${lastOf(service, 12)}`);
  }

  /** Returns the last `count` output lines of each worker. Cuts every line to 300 characters. */
  lastLines(count: number): string {
    return this.#workers.map((worker) => `worker ${worker.pid}:\n${lastOf(worker, count)}`).join('\n\n');
  }

  async end(): Promise<void> {
    await Promise.all([...this.#apis, ...this.#workers].map((service) => service.end('SIGKILL')));
    await rm(this.#clocks, { recursive: true, force: true });
  }

  async #startApi(index: number): Promise<void> {
    this.#apis[index] = await this.#start('api', index, {});
  }

  async #start(name: 'api' | 'worker', index: number, further: Environment): Promise<Service> {
    const clock = { CLOCK_FILE: path.join(this.#clocks, `${name}-${index}`) };
    const service = await startService(name, { ...this.#environment, ...clock, ...further });
    this.#expected.add(service);
    return service;
  }
}

function lastOf({ lines }: Service, count: number): string {
  return lines
    .slice(-count)
    .map((line) => line.slice(0, 300))
    .join('\n');
}
