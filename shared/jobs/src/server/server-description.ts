import type { ServerDescription } from '../storage/servers.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Returns the details that this server registers and that the list of servers shows. */
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
