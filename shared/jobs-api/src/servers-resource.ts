import type { JobReader, Server } from '@longshore/jobs';
import { defineResource, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';

const ServerItem = Type.Object({
  id: Type.String({ format: 'uuid', description: 'New at every start' }),
  host: Type.String(),
  pid: Type.Integer({ minimum: 0 }),
  queues: Type.Array(Type.String()),
  concurrency: Type.Integer({ minimum: 1, description: 'How many jobs it runs at once' }),
  processing: Type.Integer({ minimum: 0, description: 'How many it ran at its last heartbeat' }),
  startedAt: Type.String({ format: 'date-time' }),
  heartbeatAt: Type.String({ format: 'date-time' }),
  timeoutMs: Type.Integer({
    minimum: 1,
    description: 'Silence of this many milliseconds and it counts as dead',
  }),
});

/** `/servers`: the processes that run jobs now. */
export function serversResource(storage: JobReader): Resource {
  return defineResource({
    name: 'servers',
    description: 'Running processes that take jobs and run them.',
    item: ServerItem,
    serverSet: [
      'id',
      'host',
      'pid',
      'queues',
      'concurrency',
      'processing',
      'startedAt',
      'heartbeatAt',
      'timeoutMs',
    ],
    filters: { host: 'exact' },
    storage: {
      list: async ({ filters, sort, limit, offset }) => {
        const servers = await storage.listServers();
        const hosts = filters.find(({ field }) => field === 'host')?.values;
        const matching = hosts === undefined ? servers : servers.filter(({ host }) => hosts.includes(host));
        if (sort[0]?.direction === 'desc') matching.reverse();
        return { items: matching.slice(offset, offset + limit).map(toServerItem), total: matching.length };
      },
      get: async (id) => {
        const server = (await storage.listServers()).find((candidate) => candidate.id === id);
        return server === undefined ? undefined : toServerItem(server);
      },
    },
  });
}

function toServerItem(server: Server): Static<typeof ServerItem> {
  return {
    ...server,
    startedAt: server.startedAt.toISOString(),
    heartbeatAt: server.heartbeatAt.toISOString(),
  };
}
