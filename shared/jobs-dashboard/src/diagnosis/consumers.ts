import type { Server } from '@longshore/jobs/storage';

/**
 * Looks up the servers that consume a queue. Filtering all servers for each of a thousand queues would take too long.
 */
export type ConsumersOf = (queue: string) => readonly Server[];

export function groupByQueue(servers: readonly Server[]): ConsumersOf {
  const byQueue = new Map<string, Server[]>();
  for (const server of servers) {
    for (const queue of server.queues) {
      const known = byQueue.get(queue);
      if (known === undefined) byQueue.set(queue, [server]);
      else known.push(server);
    }
  }
  return (queue) => byQueue.get(queue) ?? [];
}

/** Returns the servers in the state `running`, that is, neither quiet nor stopping. */
export function activeAmong(servers: readonly Server[]): readonly Server[] {
  return servers.filter(({ state }) => state === 'running');
}

/** Returns whether the last heartbeat is older than half of the server’s timeout. */
export function isSilent(
  { heartbeatAt, timeoutMs }: Pick<Server, 'heartbeatAt' | 'timeoutMs'>,
  nowMs: number,
): boolean {
  return nowMs - heartbeatAt.getTime() > timeoutMs / 2;
}
