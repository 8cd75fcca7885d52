import type { Server } from '@longshore/jobs';

/** The servers of each queue: with a thousand queues, looking through every server for each of them would take too long. */
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

/** Those that have not been told to take no more. */
export function activeAmong(servers: readonly Server[]): readonly Server[] {
  return servers.filter(({ state }) => state === 'running');
}

/** Half of the time is gone after which it counts as dead: it should have been heard long ago. */
export function isSilent(
  { heartbeatAt, timeoutMs }: Pick<Server, 'heartbeatAt' | 'timeoutMs'>,
  nowMs: number,
): boolean {
  return nowMs - heartbeatAt.getTime() > timeoutMs / 2;
}
