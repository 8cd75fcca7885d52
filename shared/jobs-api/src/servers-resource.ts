import type { JobStorage } from '@longshore/jobs';
import {
  type ControlOptions,
  type Server,
  type ServerControlResult,
  serverStates,
} from '@longshore/jobs/storage';
import { type CallContext, type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time } from './fields.js';
import { jobsBelow } from './not-allowed.js';
import { type ApiAction, audited, ReasonBody } from './reasons.js';

const ServerItem = Type.Object({
  id: Type.String({ format: 'uuid', description: 'A new ID at each start' }),
  host: Type.String({ description: 'The name of the machine that it runs on' }),
  pid: Type.Integer({ minimum: 0, description: 'The ID of its process' }),
  queues: Type.Array(Name, { description: 'The queues that it takes jobs from' }),
  queueWeights: nullable(
    Type.Array(Type.Integer({ minimum: 1, maximum: 1_000 }), {
      description: 'The weights of its queues; null if it serves them in strict order',
    }),
  ),
  jobNames: nullable(
    Type.Array(Name, {
      description: 'The names of the jobs that it has handlers for; null if unknown',
    }),
  ),
  version: nullable(Type.String({ description: 'The version of its application; null if it reported none' })),
  concurrency: Type.Integer({ minimum: 1, description: 'How many jobs it can run at once' }),
  processing: Type.Integer({ minimum: 0, description: 'How many jobs it was running at its last heartbeat' }),
  state: Type.Enum([...serverStates], { description: 'Its state at its last heartbeat' }),
  requested: nullable(
    Type.Enum(['quiet', 'stop'], {
      description: 'The operation requested of it, which it carries out after its next heartbeat',
    }),
  ),
  startedAt: Time,
  heartbeatAt: Type.String({ format: 'date-time', description: 'The time of its latest heartbeat' }),
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

/** `/servers`: the processes that run jobs. */
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
      'queueWeights',
      'jobNames',
      'version',
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
      quiet: {
        summary: 'Stop a server from claiming more jobs',
        note: 'The server acts on it after its next heartbeat. Has no effect if it was already asked to be quiet or to stop.',
        body: ReasonBody,
      },
      stop: {
        summary: 'Stop a server once its jobs finish, within its shutdown grace',
        note: 'The server acts on it after its next heartbeat. Has no effect if it was already asked to stop.',
        body: ReasonBody,
      },
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
        quiet: async (id, { reason }, context, check) => {
          const action = { action: 'servers/quiet', target: id, reason };
          return itemAfter(await storage.servers.quiet(id, optionsOf(check, context, action)));
        },
        stop: async (id, { reason }, context, check) => {
          const action = { action: 'servers/stop', target: id, reason };
          return itemAfter(await storage.servers.stop(id, optionsOf(check, context, action)));
        },
      },
    },
  });
}

function optionsOf(
  check: Check<Static<typeof ServerItem>> | undefined,
  context: CallContext,
  action: ApiAction,
): ControlOptions<Server, ServerControlResult> {
  return {
    check: check && ((server) => check(toServerItem(server))),
    transaction: context.transaction,
    audit: audited(context, action, (result) => result.outcome === 'ok' && result.changed),
  };
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
