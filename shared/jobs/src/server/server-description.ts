import type { ServerDescription } from '../storage/servers.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Returns the details to register for this server. The list of servers shows them. */
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
