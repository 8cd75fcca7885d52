import type { LostServer, Queue, Server } from '@longshore/jobs/storage';

/** What outlives jobs and servers: a queue comes with the first of either, and stays. */
interface Traces {
  readonly queues: readonly Queue[];
  readonly servers: readonly Server[];
  readonly lost: readonly LostServer[];
}

/** Whether the store has never seen a job or a server. */
export function isUntouched({ queues, servers, lost }: Traces): boolean {
  return queues.length + servers.length + lost.length === 0;
}
