import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '@longshore/local-postgres';
import { peerNode } from '../peers.js';

const root = new URL('../../../', import.meta.url);
const startDeadlineMs = 120_000;

export interface Service {
  readonly url: string;
  readonly pid: number | undefined;
  stop(): Promise<void>;
}

/**
 * Starts a program that serves HTTP on `PORT`, and resolves when it is ready.
 *
 * @param program a compiled file, relative to the root of the repository
 * @throws {Error} if the program ends or is not ready within two minutes
 */
export async function startService(program: string, env: Record<string, string>): Promise<Service> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const child = spawn(peerNode(), [fileURLToPath(new URL(program, root))], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      LONGSHORE_TEST_JOB: 'true',
      API_AUTH: 'none',
      LOG_LEVEL: 'warn',
      API_MAX_LISTENERS: '100000',
      API_MAX_LISTENERS_PER_CALLER: '100000',
      HTTP_MAX_CONNECTIONS: '100000',
      HTTP_MAX_CONNECTIONS_PER_ADDRESS: '100000',
      ...env,
      PORT: String(port),
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const ended = once(child, 'exit');
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await ended;
  };
  const deadline = performance.now() + startDeadlineMs;
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`${program} ended with exit code ${child.exitCode}`);
    if (performance.now() > deadline) {
      await stop();
      throw new Error(`${program} is not ready after ${startDeadlineMs} ms`);
    }
    await pause(50);
  }
  return { url, pid: child.pid, stop };
}

async function isReady(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(2_000) })).ok;
  } catch {
    return false;
  }
}
