import { fileURLToPath } from 'node:url';
import { startService, type Service } from '../test/system/service.js';

type Environment = Readonly<Record<string, string>>;

/** As the worker services have them: the smallest pool that is allowed, and larger ones. */
const poolSizes = [10, 5, 2, 2];

const clockAhead = new URL('programs/dist/clock-ahead.js', import.meta.url).href;

/** Starting takes long on a machine under load, and Postgres may be away. */
const startMs = 60_000;

/** Further environment of a worker that starts. */
export const ahead: Environment = { NODE_OPTIONS: `--import ${clockAhead}` };

/** The services under test: two api processes and several workers. */
export class Fleet {
  readonly #environment: Environment;
  readonly #workers: Service[] = [];
  readonly #apis: Service[] = [];
  /** Every process that was ever started and that nobody here has ended. */
  readonly #expected = new Set<Service>();

  private constructor(environment: Environment) {
    this.#environment = environment;
  }

  static async start(databaseUrl: string): Promise<Fleet> {
    const fleet = new Fleet({
      STORAGE: 'postgres',
      DATABASE_URL: databaseUrl,
      LONGSHORE_APP: fileURLToPath(new URL('programs/dist/application.js', import.meta.url)),
      LOG_LEVEL: 'warn',
      SERVER_TIMEOUT_MS: '5000',
      SLIDING_INVISIBILITY_TIMEOUT_MS: '10000',
      STOP_TIMEOUT_MS: '5000',
      WORKER_CONCURRENCY: '20',
    });
    await Promise.all([
      fleet.#startApi(),
      fleet.#startApi(),
      ...poolSizes.map((_, index) => fleet.startWorker(index)),
    ]);
    return fleet;
  }

  get apiUrls(): string[] {
    return this.#apis.map(({ url }) => url);
  }

  get size(): number {
    return poolSizes.length;
  }

  worker(index: number): Service {
    const worker = this.#workers[index];
    if (worker === undefined) throw new Error(`No worker ${index}`);
    return worker;
  }

  /** Starts a worker in the place of one that has ended. */
  async startWorker(index: number, further: Environment = {}): Promise<void> {
    const pool = { DATABASE_POOL_SIZE: String(poolSizes[index]) };
    this.#workers[index] = await this.#start('worker', { ...pool, ...further });
  }

  async endWorker(index: number, signal: NodeJS.Signals): Promise<void> {
    const worker = this.worker(index);
    this.#expected.delete(worker);
    await worker.end(signal);
  }

  /** Starts workers anew that have ended by themselves, as whatever watches over them would; it counts all the same. */
  async revive(): Promise<void> {
    const ended = this.#workers.flatMap(({ ending }, index) => (ending() === null ? [] : [index]));
    await Promise.all(ended.map((index) => this.startWorker(index)));
  }

  /** How processes ended that nobody had ended, with their last words. */
  endedByThemselves(): string[] {
    return [...this.#expected]
      .filter((service) => service.ending() !== null)
      .map(
        (service) =>
          `${service.ending()}: ${service.lines
            .slice(-12)
            .map((line) => line.slice(0, 300))
            .join('\n')}`,
      );
  }

  /** What each worker has said last. */
  lastLines(count: number): string {
    return this.#workers
      .map(
        ({ pid, lines }) =>
          `worker ${pid}:\n${lines
            .slice(-count)
            .map((line) => line.slice(0, 300))
            .join('\n')}`,
      )
      .join('\n\n');
  }

  async end(): Promise<void> {
    await Promise.all([...this.#apis, ...this.#workers].map((service) => service.end('SIGKILL')));
  }

  async #startApi(): Promise<void> {
    this.#apis.push(await this.#start('api', {}));
  }

  async #start(name: 'api' | 'worker', further: Environment): Promise<Service> {
    const service = await startService(name, { ...this.#environment, ...further }, startMs);
    this.#expected.add(service);
    return service;
  }
}
