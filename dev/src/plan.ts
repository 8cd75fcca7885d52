import path from 'node:path';
import type { ServiceSpec } from './service-process.js';

export interface Places {
  /** The root of the repository. */
  readonly root: string;
  /** The directory for job results. */
  readonly results: string;
  /** Initial number of rows in the example application's tables. */
  readonly seedRows: string;
  /** Returns the preferred port if it is free, and another free port otherwise. */
  readonly freePort: (preferred: number) => Promise<number>;
}

/** Describes the three services. All of them use the same Postgres. */
export async function threeServices(places: Places, databaseUrl: string): Promise<ServiceSpec[]> {
  const database = { API_STORAGE: 'postgres', DATABASE_URL: databaseUrl };
  const api = await service(places, 'api', 8080, { ...database, API_SEED_ROWS: places.seedRows });
  const links = { ...database, API_BASE_URL: api.url };
  return [api, await service(places, 'dashboard', 8081, links), await service(places, 'worker', 8082, links)];
}

/** Describes the single service of the memory mode. Its process also runs the jobs and the dashboard. */
export async function oneProcess(places: Places): Promise<ServiceSpec[]> {
  const env = { API_STORAGE: 'memory', API_EMBEDDED_SERVER: 'true', API_EMBEDDED_DASHBOARD: 'true' };
  return [await service(places, 'api', 8080, env)];
}

async function service(
  { root, results, freePort }: Places,
  name: string,
  preferredPort: number,
  env: Readonly<Record<string, string>>,
): Promise<ServiceSpec> {
  const variable = `PORT_${name.toUpperCase()}`;
  const wanted = process.env[variable];
  const port = await freePort(Number(wanted ?? preferredPort));
  if (wanted !== undefined && port !== Number(wanted))
    throw new Error(`${variable}: the port ${wanted} is in use`);
  const url = `http://localhost:${port}`;
  return {
    name,
    main: path.join(root, 'services', name, 'dist', 'main.js'),
    url,
    env: {
      LONGSHORE_APP: process.env['LONGSHORE_APP'] ?? '@longshore/example-shop',
      HOST: '127.0.0.1',
      PORT: String(port),
      API_BASE_URL: url,
      WORKER_RESULTS_DIR: results,
      WORKER_STOP_TIMEOUT_MS: '1000',
      ...env,
    },
  };
}
