import type { JobStorage } from '@longshore/jobs';
import { type OperableStorage, serverOperations } from '@longshore/jobs/operations';
import { type Server, serverStates } from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, Time } from './fields.js';
import { jobsBelow } from './job-lists.js';
import { served } from './operations.js';

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
export function serversResource(
  storage: OperableStorage & Pick<JobStorage, 'servers'>,
  jobs: Resource,
  requiresReason: boolean,
): Resource {
  const serving = { storage, requiresReason, toItem: toServerItem };
  const { declarations, functions } = served([serverOperations.quiet, serverOperations.stop], serving);
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
    operations: declarations,
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
      operations: functions,
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
