import type { JobDefinition } from '@longshore/jobs';
import type { RowScopes, ScopeOf } from '@longshore/resources';
import { apiKeys } from './api-keys-resource.js';
import type { Scope } from './api-key.js';

/**
 * The permissions of each scope, for the documentation. `admin` includes all other scopes; no other scope includes
 * another.
 */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  read: 'GET on everything except API keys and the audit',
  write:
    "changes to single jobs, batches and recurring jobs; all changes to the application's resources; `POST /test`",
  operate:
    'special operations (`PUT …/{verb}`) and changes to many items at once, on the resources of the job platform; all changes to queues and servers; reading the audit',
  admin: 'everything, including API keys and the stack traces of 500 responses',
};

/** Resources of the job platform for which `write` is enough to create items, and to change or delete single items. */
const resourcesWritableWithWrite = new Set(['jobs', 'batches', 'recurring-jobs']);

/**
 * Returns a function that returns the scope required for a call.
 *
 * @param platform the names of the top-level resources of the job platform; all others belong to the application
 */
export function scopeRules(platform: ReadonlySet<string>): ScopeOf {
  return ({ root, resource, method, kind }): Scope => {
    if (root === apiKeys) return 'admin';
    if (method === 'GET' || method === 'HEAD') return resource === 'audit-entries' ? 'operate' : 'read';
    if (!platform.has(root)) return 'write';
    const isSingle = kind === 'item' || (kind === 'collection' && method === 'POST');
    return resourcesWritableWithWrite.has(resource) && isSingle ? 'write' : 'operate';
  };
}

/**
 * Returns the field that holds a row's queue, for each resource whose rows belong to queues. An API key that is
 * restricted to certain queues sees only the rows of these queues.
 */
export function queueRowScopes(definitions: readonly JobDefinition[]): RowScopes {
  const queues = new Map(definitions.map(({ name, queue }) => [name, queue]));
  const defaultOf = ({ name }: { readonly name?: unknown }): string | undefined => queues.get(String(name));
  return {
    jobs: { field: 'queue', defaultOf },
    continuations: { field: 'queue' },
    'recurring-jobs': { field: 'queue', defaultOf },
    queues: { field: 'name' },
    events: { field: 'queue' },
    statistics: { field: 'queue' },
  };
}
