import type { Server } from '../job/job.js';
import type { ServerControlResult } from '../storage/servers.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

/** The operations on a server. The server acts on them after its next heartbeat. */
export const serverOperations = {
  quiet: operation<typeof noFields, Server, ServerControlResult>({
    on: 'servers',
    name: 'quiet',
    summary: 'Stop a server from claiming more jobs',
    note: 'The server acts on it after its next heartbeat. Has no effect if it was already asked to be quiet or to stop.',
    done: 'quieted',
    message: 'The server has been asked to take no more jobs.',
    role: 'operator',
    fields: noFields,
    change: ({ servers }, { target }, options) => servers.quiet(target, options),
    facts: factsOf,
    after: serverAfter,
  }),
  stop: operation<typeof noFields, Server, ServerControlResult>({
    on: 'servers',
    name: 'stop',
    summary: 'Stop a server once its jobs finish, within its shutdown grace',
    note: 'The server acts on it after its next heartbeat. Has no effect if it was already asked to stop.',
    done: 'stopped',
    message: 'The server has been asked to stop.',
    role: 'operator',
    fields: noFields,
    change: ({ servers }, { target }, options) => servers.stop(target, options),
    facts: factsOf,
    after: serverAfter,
  }),
};

function factsOf(result: ServerControlResult): Facts {
  if (result.outcome === 'unknown') return result;
  return { outcome: result.changed ? 'done' : 'unchanged' };
}

function serverAfter(_storage: unknown, _call: unknown, result: ServerControlResult): Server | null {
  return result.outcome === 'unknown' ? null : result.server;
}
