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
import { jobsBelow } from './not-allowed.js';

const ServerItem = Type.Object({
  id: Type.String({ format: 'uuid', description: 'A new id at each start' }),
  host: Type.String(),
  pid: Type.Integer({ minimum: 0, description: 'The id of its process' }),
  queues: Type.Array(Type.String(), { description: 'The queues that it takes jobs from' }),
  jobNames: nullable(
    Type.Array(Type.String(), {
      description: 'The names of the jobs that it has handlers for; null if unknown',
    }),
  ),
  concurrency: Type.Integer({ minimum: 1, description: 'How many jobs it can run at once' }),
  processing: Type.Integer({ minimum: 0, description: 'How many jobs it was running at its last heartbeat' }),
  state: Type.Enum([...serverStates], { description: 'Its state at its last heartbeat' }),
  requested: nullable(
    Type.Enum(['quiet', 'stop'], {
      description: 'The operation requested of it, which it carries out after its next heartbeat',
    }),
  ),
  startedAt: Time,
  heartbeatAt: Time,
  timeoutMs: Type.Integer({
    minimum: 1,
    description: 'Milliseconds without a heartbeat after which it is declared dead',
  }),
  clockAheadMs: nullable(
    Type.Integer({
      description:
        'Milliseconds by which its clock is ahead of the database’s, negative if behind; null if not yet measured',
    }),
  ),
});

const registered = 'A server reports its own properties; restart it to change them.';
const leaves = 'A server disappears when it stops; use PUT /servers/{id}/stop.';

/** `/servers`: the processes that are running jobs. */
export function serversResource(storage: Pick<JobStorage, 'servers'>, jobs: Resource): Resource {
  return defineResource({
    name: 'servers',
    description: 'The processes that take jobs from queues and run them.',
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
    filters: {
      host: { field: 'host', match: 'exact', description: 'Servers on these hosts.' },
      state: { field: 'state', match: 'exact', description: 'Servers in one of these states.' },
      queue: {
        field: 'queues',
        match: 'exact',
        description: 'Servers that take jobs from one of these queues.',
      },
    },
    operations: {
      quiet: { summary: 'Stop a server from claiming more jobs' },
      stop: { summary: 'Stop a server once its jobs finish, within its shutdown grace' },
    },
    children: [
      {
        resource: jobs,
        by: 'serverId',
        serves: ['list'],
        notAllowed: { ...jobsBelow, create: 'Servers claim their jobs; use POST /jobs to enqueue one.' },
      },
    ],
    notAllowed: {
      create: 'A server registers itself when it starts.',
      replaceMany: registered,
      deleteMany: leaves,
      replace: registered,
      patch: registered,
      delete: leaves,
    },
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
