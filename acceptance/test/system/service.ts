import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { house } from '../house/house.js';
import { eventually } from '@longshore/test-support';
import { run, type Running } from './process.js';

export type ServiceName = 'api' | 'worker' | 'dashboard';

const hourMs = '3600000';

/**
 * Time limits of the services, which tests set to an hour unless they are about a limit. With the defaults, a test would
 * fail on a machine that is slow or busy for a few seconds.
 */
export const patience = {
  DATABASE_CONNECT_TIMEOUT_MS: hourMs,
  DATABASE_SILENCE_TIMEOUT_MS: hourMs,
  DATABASE_READ_TIMEOUT_MS: hourMs,
  DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS: hourMs,
  DATABASE_TRANSACTION_IDLE_TIMEOUT_MS: hourMs,
  DASHBOARD_READ_TIMEOUT_MS: hourMs,
  HTTP_KEEP_ALIVE_MS: hourMs,
  HTTP_STOP_TIMEOUT_MS: hourMs,
  WORKER_SERVER_TIMEOUT_MS: hourMs,
  WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS: hourMs,
  WORKER_STOP_TIMEOUT_MS: hourMs,
} as const;

export interface Service extends Running {
  readonly url: string;
}

/**
 * Starts a service on a free port without waiting until it is ready.
 *
 * @param env environment variables, which take precedence over {@link patience}
 * @param root the root of the checkout to start the service from; this repository by default
 */
export async function launchService(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
  root = house,
): Promise<Service> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const own = {
    ...patience,
    HOST: '127.0.0.1',
    PORT: String(port),
    API_BASE_URL: url,
    LOG_LEVEL: 'info',
    LONGSHORE_APP: '@longshore/example-shop',
  };
  return { url, ...run(path.join(root, `services/${name}/dist/main.js`), [], { ...own, ...env }) };
}

/**
 * Waits until the service is ready.
 *
 * @throws {Error} with the service's output if it ends or is not ready in time
 */
export async function untilReady(service: Service): Promise<Service> {
  const readiness = async (): Promise<string> => {
    if (service.ending() !== null) return 'ended';
    const response = await fetch(`${service.url}/readyz`);
    return `${response.status} ${await response.text()}`;
  };
  await eventually(readiness, (seen) => seen === 'ended' || seen.startsWith('200 ')).catch(
    (error: unknown) => {
      throw new Error(`Not ready:\n${service.lines.join('\n')}`, { cause: error });
    },
  );
  if (service.ending() !== null) throw new Error(`${service.ending()}:\n${service.lines.join('\n')}`);
  return service;
}

export async function startService(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
): Promise<Service> {
  return untilReady(await launchService(name, env));
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' ? (address?.port ?? 0) : 0;
}
