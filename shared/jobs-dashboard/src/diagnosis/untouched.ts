import type { LostServer, Queue, Server } from '@longshore/jobs/storage';

/** The lists that show whether the storage has been used. */
interface Traces {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly lost: readonly LostServer[];
}

/** Returns whether the storage shows no trace of a job or a server. */
export function isUntouched({ queues, servers, lost }: Traces): boolean {
  return queues.length + servers.length + lost.length === 0;
}
