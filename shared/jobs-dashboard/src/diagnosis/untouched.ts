import type { LostServer, Queue, Server } from '@longshore/jobs/storage';

/** The lists that show whether the storage has been used. */
interface Traces {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly lost: readonly LostServer[];
}

/** Returns whether there are no queues, no servers and no lost servers, as in a new installation. */
export function isUntouched({ queues, servers, lost }: Traces): boolean {
  return queues.length + servers.length + lost.length === 0;
}
