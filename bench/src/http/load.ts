import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { peerNode, peersDirectory } from '../peers.js';

const autocannon = fileURLToPath(new URL('node_modules/autocannon/autocannon.js', peersDirectory));

export interface Load {
  readonly url: string;
  readonly body?: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Autocannon's result; latencies in milliseconds. */
export interface LoadReport {
  readonly requests: { readonly average: number };
  readonly latency: { readonly p50: number; readonly p97_5: number; readonly p99: number };
  readonly '2xx': number;
}

/**
 * Sends POST requests for some seconds, one after the other on each connection.
 *
 * @throws {Error} if a request fails
 */
export async function postLoad({ url, body, connections, seconds }: Load): Promise<LoadReport> {
  const options = ['--json', '--method=POST', `--connections=${connections}`, `--duration=${seconds}`];
  if (body !== undefined) options.push('--headers=content-type=application/json', `--body=${body}`);
  const child = spawn(peerNode(), [autocannon, ...options, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`autocannon ended with exit code ${child.exitCode}`);
  const report = JSON.parse(output) as LoadReport & { non2xx: number; errors: number; timeouts: number };
  const { non2xx, errors, timeouts } = report;
  if (non2xx + errors + timeouts > 0 || report['2xx'] === 0)
    throw new Error(
      `POST ${url}: ${report['2xx']} × 2xx, ${non2xx} × other, ${errors} errors, ${timeouts} timeouts`,
    );
  return report;
}
