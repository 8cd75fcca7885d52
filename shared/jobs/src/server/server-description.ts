import type { ServerDescription } from '../storage/servers.js';
import type { ResolvedServerOptions } from './server-options.js';

/** Describes this server for the list of servers. */
export function describeServer(options: ResolvedServerOptions): ServerDescription {
  return {
    host: options.host,
    pid: process.pid,
    queues: [...options.queues.names],
    jobNames: options.handlers.map(({ definition }) => definition.name),
    concurrency: options.concurrency,
    timeoutMs: options.serverTimeoutMs,
  };
}
