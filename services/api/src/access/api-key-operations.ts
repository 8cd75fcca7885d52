import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { type ApiKeyFields, apiKeyOperations, operation } from '@longshore/jobs/operations';
import type { ApiKey, ApiKeyTerms, NewApiKey } from './api-key.js';
import type { ApiKeyStore, ChangedApiKey } from './api-key-store.js';

/** The key to change, and its new terms, from the stored key. */
export interface ApiKeyEdit {
  readonly id: string;
  readonly change: (current: ApiKey) => ApiKeyTerms;
}

/** The operations on API keys, carried out by the store of the keys. */
export const changeApiKey = {
  create: operation<typeof ApiKeyFields, ApiKey, ApiKey, NewApiKey, ApiKey, ApiKeyStore>({
    ...apiKeyOperations.create,
    change: (store, { target }, options) => store.add(target, options),
    facts: ({ id }) => ({ outcome: 'done', target: id }),
    after: (_store, _call, key: ApiKey) => key,
  }),
  edit: operation<EditFields, ApiKey, ChangedApiKey | null, ApiKeyEdit, ApiKey, ApiKeyStore>({
    ...apiKeyOperations.edit,
    change: (store, { target }, options) => store.change(target.id, target.change, options),
    facts: (changed, { target: { id: target } }) =>
      changed === null
        ? { outcome: 'unknown', target }
        : { outcome: 'done', target, before: changedTerms(changed) },
    after: (_store, _call, changed) => changed?.after ?? null,
  }),
  delete: operation<NoFields, ApiKey, ApiKey | null, string, ApiKey, ApiKeyStore>({
    ...apiKeyOperations.delete,
    change: (store, { target }, options) => store.remove(target, options),
    facts: (key) => (key === null ? { outcome: 'unknown' } : { outcome: 'done', before: termsOf(key) }),
    after: () => null,
  }),
};

type EditFields = typeof apiKeyOperations.edit.fields;
type NoFields = typeof apiKeyOperations.delete.fields;

function termsOf({ name, scopes, queues, expiresAt }: ApiKeyTerms): Readonly<Record<string, JsonValue>> {
  return {
    name,
    scopes: [...scopes],
    queues: queues && [...queues],
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}

/** Returns the previous values of what a change has changed. */
function changedTerms({ before, after }: ChangedApiKey): JsonValue {
  const terms = termsOf(after);
  const previous = Object.entries(termsOf(before));
  return Object.fromEntries(previous.filter(([name, value]) => !isDeepStrictEqual(value, terms[name])));
}
