import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { house } from '../house/house.js';
import { eventually } from '@longshore/test-support';
import { run, type Running } from './process.js';

export type ServiceName = 'api' | 'worker' | 'dashboard';

export interface Service extends Running {
  readonly url: string;
}

/**
 * Starts a service on a free port without waiting until it is ready.
 *
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
  const ready = async (): Promise<boolean> =>
    service.ending() !== null || (await fetch(`${service.url}/readyz`)).ok;
  await eventually(ready).catch((error: unknown) => {
    throw new Error(`Not ready:\n${service.lines.join('\n')}`, { cause: error });
  });
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
