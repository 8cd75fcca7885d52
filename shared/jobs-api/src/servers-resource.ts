import type { JobStorage } from '@longshore/jobs';
import {
  type ControlOptions,
  type Server,
  type ServerControlResult,
  serverStates,
} from '@longshore/jobs/storage';
import { type CallContext, type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, Time } from './fields.js';

const ServerItem = Type.Object({
  id: Type.String({ format: 'uuid', description: 'New at every start' }),
  host: Type.String(),
  pid: Type.Integer({ minimum: 0 }),
  queues: Type.Array(Type.String()),
  jobNames: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: 'The names that it has handlers for; null if it did not say',
  }),
  concurrency: Type.Integer({ minimum: 1, description: 'How many jobs it runs at once' }),
  processing: Type.Integer({ minimum: 0, description: 'How many it ran at its last heartbeat' }),
  state: Type.Enum([...serverStates], { description: 'What it did at its last heartbeat' }),
  requested: nullable(
    Type.Enum(['quiet', 'stop'], { description: 'What it was asked for; its next heartbeat tells it' }),
  ),
  startedAt: Time,
  heartbeatAt: Time,
  timeoutMs: Type.Integer({
    minimum: 1,
    description: 'Silence of this many milliseconds and it counts as dead',
  }),
  clockAheadMs: nullable(
    Type.Integer({
      description: 'How far its clock is ahead of the store’s; negative: behind; null: not measured yet',
    }),
  ),
});

/** `/servers`: the processes that run jobs now. */
export function serversResource(storage: Pick<JobStorage, 'servers'>, jobs: Resource): Resource {
  return defineResource({
    name: 'servers',
    description: 'Running processes that take jobs and run them.',
    item: ServerItem,
    serverSet: [
      'id',
      'host',
      'pid',
      'queues',
      'jobNames',
      'concurrency',
      'processing',
      'state',
      'requested',
      'startedAt',
      'heartbeatAt',
      'timeoutMs',
      'clockAheadMs',
    ],
    filters: { host: 'exact', state: 'exact', queue: { field: 'queues', match: 'exact' } },
    sort: ['host', 'startedAt'],
    operations: {
      quiet: { summary: 'Let it take no more jobs; those that it runs go on' },
      stop: { summary: 'Let it stop in order: its jobs end, or run again elsewhere when its time is up' },
    },
    children: [{ resource: jobs, by: 'serverId', serves: ['list'] }],
    storage: {
      seeks: true,
      list: async (query) => pageOf((await storage.servers.list()).map(toServerItem), query),
      get: async (id) => {
        const server = (await storage.servers.list()).find((candidate) => candidate.id === id);
        return server === undefined ? undefined : toServerItem(server);
      },
      operations: {
        quiet: async (id, _body, context, check) =>
          itemAfter(await storage.servers.quiet(id, optionsOf(check, context))),
        stop: async (id, _body, context, check) =>
          itemAfter(await storage.servers.stop(id, optionsOf(check, context))),
      },
    },
  });
}

function optionsOf(
  check: Check<Static<typeof ServerItem>> | undefined,
  { transaction }: CallContext,
): ControlOptions<Server> {
  return { check: check && ((server) => check(toServerItem(server))), transaction };
}

function itemAfter(result: ServerControlResult): Static<typeof ServerItem> | undefined {
  return result.outcome === 'unknown' ? undefined : toServerItem(result.server);
}

function toServerItem(server: Server): Static<typeof ServerItem> {
  return {
    ...server,
    startedAt: server.startedAt.toISOString(),
    heartbeatAt: server.heartbeatAt.toISOString(),
  };
}
