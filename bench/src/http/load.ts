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

/** Request timeout, in seconds. A load that runs at least this long fails if no response arrives. */
const requestTimeoutSeconds = 120;

/** The part of autocannon's result that the benchmark uses. Latencies are in milliseconds. */
export interface LoadReport {
  readonly requests: { readonly average: number };
  readonly latency: { readonly p50: number; readonly p97_5: number; readonly p99: number };
  readonly '2xx': number;
}

/**
 * Sends POST requests for `seconds`, one at a time on each connection. If no response arrives in that time, tries again
 * for twice as long.
 *
 * @throws {Error} if a request fails, or if no response arrives in a load of at least two minutes
 */
export async function postLoad(load: Load): Promise<LoadReport> {
  const report = await autocannonReport(load);
  const { non2xx, errors, timeouts } = report;
  const answered = report['2xx'];
  if (non2xx + errors + timeouts === 0 && answered > 0) return report;
  if (non2xx + errors + timeouts === 0 && load.seconds < requestTimeoutSeconds)
    return postLoad({ ...load, seconds: 2 * load.seconds });
  throw new Error(
    `POST ${load.url}: ${answered} × 2xx, ${non2xx} × other, ${errors} errors, ${timeouts} timeouts`,
  );
}

interface FullReport extends LoadReport {
  readonly non2xx: number;
  readonly errors: number;
  readonly timeouts: number;
}

async function autocannonReport({ url, body, connections, seconds }: Load): Promise<FullReport> {
  const options = [
    '--json',
    '--method=POST',
    `--connections=${connections}`,
    `--duration=${seconds}`,
    `--timeout=${requestTimeoutSeconds}`,
  ];
  if (body !== undefined) options.push('--headers=content-type=application/json', `--body=${body}`);
  const child = spawn(peerNode(), [autocannon, ...options, url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  if (child.exitCode !== 0) throw new Error(`autocannon ended with exit code ${child.exitCode}`);
  return JSON.parse(output) as FullReport;
}
