import type { LostServer, Queue, Server } from '@longshore/jobs/storage';

/** What remains of jobs and servers: queues are created with the first one and stay. */
interface Traces {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly lost: readonly LostServer[];
}

/** Returns whether the storage has never seen a job or a server. */
export function isUntouched({ queues, servers, lost }: Traces): boolean {
  return queues.length + servers.length + lost.length === 0;
}
