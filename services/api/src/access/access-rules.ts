import type { JobDefinition } from '@longshore/jobs';
import type { RowScopes, ScopeOf } from '@longshore/resources';
import { apiKeys } from './api-keys-resource.js';
import type { Scope } from './api-key.js';

/** What each scope permits. `admin` includes all others; no other scope includes another. */
export const scopeMeanings: Readonly<Record<Scope, string>> = {
  read: 'GET on everything but API keys',
  write:
    "what changes single jobs, batches and recurring jobs; all changes of the application's resources; `POST /test`",
  operate:
    'special operations (`PUT …/{verb}`) and changes of many items at once, on the resources of the job platform; all changes of queues and servers',
  admin: 'everything, API keys too; sees the stack trace of a 500',
};

/** The platform's resources whose items belong to the callers. */
const work = new Set(['jobs', 'batches', 'recurring-jobs']);

/**
 * Returns the rules for which scope a call requires.
 *
 * @param platform the names of the platform's top-level resources; all others are the application's
 */
export function scopeRules(platform: ReadonlySet<string>): ScopeOf {
  return ({ root, resource, method, kind }): Scope => {
    if (root === apiKeys) return 'admin';
    if (method === 'GET' || method === 'HEAD') return 'read';
    if (!platform.has(root)) return 'write';
    const isSingle = kind === 'item' || (kind === 'collection' && method === 'POST');
    return work.has(resource) && isSingle ? 'write' : 'operate';
  };
}

/** Returns the rows that are visible to a key restricted to queues. */
export function queueRowScopes(definitions: readonly JobDefinition[]): RowScopes {
  const queues = new Map(definitions.map(({ name, queue }) => [name, queue]));
  const defaultOf = ({ name }: { readonly name?: unknown }): string | undefined => queues.get(String(name));
  return {
    jobs: { field: 'queue', defaultOf },
    continuations: { field: 'queue' },
    'recurring-jobs': { field: 'queue', defaultOf },
    queues: { field: 'name' },
    events: { field: 'queue' },
  };
}
