import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startPostgres, type Postgres } from './postgres.js';
import { launchService, untilReady, type Service, type ServiceName } from './service.js';

/** A Postgres server for one test suite, and functions that start the services that use it. */
export interface System {
  readonly postgres: Postgres;
  /** The directory for the result files of jobs. */
  readonly results: string;
  /** Starts a service and waits until it is ready. */
  start(name: ServiceName, env?: Readonly<Record<string, string>>): Promise<Service>;
  /** Starts a service without waiting until it is ready. */
  launch(name: ServiceName, env?: Readonly<Record<string, string>>): Promise<Service>;
}

/**
 * Starts a system before the suite's tests, and stops everything after them.
 *
 * @param env environment variables for all services
 * @param options.durable whether commits survive if Postgres does not stop in time and is killed; `false` by default
 * @returns a function that returns the system; it throws if it is called before the tests run
 */
export function useSystem(
  env: Readonly<Record<string, string>> = {},
  { durable = false } = {},
): () => System {
  let system: System | undefined;
  let postgres: Postgres;
  let results: string;
  const services: Service[] = [];

  before(async () => {
    postgres = await startPostgres({ durable });
    results = await mkdtemp(path.join(tmpdir(), 'longshore-results-'));
    const shared = {
      API_STORAGE: 'postgres',
      DATABASE_URL: postgres.url,
      WORKER_RESULTS_DIR: results,
      ...env,
    };
    const launch = async (name: ServiceName, own = {}): Promise<Service> => {
      const service = await launchService(name, { ...shared, ...own });
      services.push(service);
      return service;
    };
    const start = async (name: ServiceName, own = {}): Promise<Service> =>
      untilReady(await launch(name, own));
    system = { postgres, results, start, launch };
  });

  after(async () => {
    await Promise.all(services.map((service) => service.end('SIGKILL')));
    await postgres.remove();
    await rm(results, { recursive: true, force: true });
  });

  return () => {
    if (system === undefined) throw new Error('The system runs only while tests run.');
    return system;
  };
}
