import type { ServerDescription } from '../storage/servers.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Returns what the list of servers shows about this server. */
export function describeServer(options: ResolvedServerOptions): ServerDescription {
  const { weights } = options.queues;
  return {
    host: options.host,
    pid: process.pid,
    queues: [...options.queues.names],
    ...(weights !== null && { queueWeights: weights }),
    jobNames: options.handlers.map(({ definition }) => definition.name),
    concurrency: options.concurrency,
    ...(options.version !== null && { version: options.version }),
    timeoutMs: options.serverTimeoutMs,
  };
}
