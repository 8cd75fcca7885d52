import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@longshore/jobs';
import { checkOf, perform } from '@longshore/jobs-api';
import { ApiKeyFields, apiKeyOperations, operation } from '@longshore/jobs/operations';
import {
  type CallContext,
  defineResource,
  type ItemChange,
  pageOf,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import type { ApiKeyStore, ChangedApiKey } from './api-key-store.js';
import { type ApiKey, type ApiKeyTerms, newApiKey, type NewApiKey } from './api-key.js';
import type { KeyRing } from './key-ring.js';

export const apiKeys = 'api-keys';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
const Time = Type.String({ format: 'date-time' });

const serverSet = ['id', 'createdAt', 'createdBy', 'lastUsedAt', 'key'] as const;

const ApiKeyItem = Type.Object({
  id: Type.String({
    minLength: 16,
    maxLength: 16,
    pattern: '^[0-9a-f]{16}$',
    examples: ['5f0c1d2e3b4a5968'],
  }),
  ...Type.Required(ApiKeyFields).properties,
  createdAt: Time,
  createdBy: nullable(
    Type.String({
      description: 'The caller who created it; null if it was created with the `create-key` command',
    }),
  ),
  lastUsedAt: nullable(
    Type.String({ format: 'date-time', description: 'When it was last used, accurate to the minute' }),
  ),
  key: Type.Optional(
    Type.String({
      description:
        'The token that callers send. Only the response to the POST contains it; it cannot be retrieved later.',
      examples: ['lsk_{id}_{secret}'],
    }),
  ),
});
type ApiKeyItem = Static<typeof ApiKeyItem>;
type ApiKeyTermsItem = Omit<ApiKeyItem, (typeof serverSet)[number]>;

/** A log entry for the creation, change or revocation of an API key. */
interface ApiKeyEvent {
  readonly action: 'created' | 'changed' | 'revoked';
  readonly id: string;
  readonly by: string | undefined;
}

interface ApiKeysParts {
  readonly store: ApiKeyStore;
  /** The cache of keys. A key is removed from the cache when it is changed or revoked. */
  readonly ring: KeyRing;
  readonly onChange: (event: ApiKeyEvent) => void;
  /** Whether callers must give a reason when they revoke keys. */
  readonly requiresReason: boolean;
}

/** `/api-keys`: manages API keys. Deleting a key revokes it. */
export function apiKeysResource({ store, ring, onChange, requiresReason }: ApiKeysParts): Resource {
  const changed = (action: ApiKeyEvent['action'], id: string, context: CallContext): void => {
    const { principal, transaction } = context;
    const act = (): void => {
      ring.forget(id);
      onChange({ action, id, by: principal?.name });
    };
    if (transaction === undefined) act();
    else transaction.afterCommit(act);
  };
  const update = async (
    id: string,
    change: ItemChange<ApiKeyItem, ApiKeyTermsItem>,
    context: CallContext,
  ): Promise<ApiKeyItem | undefined> => {
    const target = { id, change: (current: ApiKey) => toTerms(change.apply(toItem(current))) };
    const call = { target, fields: change.fields };
    const { subject } = await perform(changeApiKey.edit, store, context, call);
    if (subject === null) return undefined;
    changed('changed', id, context);
    return toItem(subject);
  };
  return defineResource({
    name: apiKeys,
    description: `The API keys of callers. Deleting a key revokes it. ${apiKeyOperations.delete.note}`,
    item: ApiKeyItem,
    serverSet,
    shownOnce: ['key'],
    create: ApiKeyFields,
    deletionReason: requiresReason ? 'required' : 'optional',
    filters: { name: 'partial' },
    defaultSort: ['-createdAt'],
    notAllowed: {
      replaceMany: 'API keys are changed one at a time, at /api-keys/{id}.',
      deleteMany: 'API keys are revoked one at a time, at /api-keys/{id}.',
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf((await store.list()).map(toItem), query),
      get: async (id) => {
        const key = await store.find(id);
        return key && toItem(key);
      },
      create: async (body, context) => {
        const { key, token } = newApiKey(toTerms(body), context.principal?.name ?? null);
        const { subject } = await perform(changeApiKey.create, store, context, { target: key, fields: body });
        if (subject === null) throw new Error('The key was not stored');
        changed('created', key.id, context);
        return { ...toItem(subject), key: token };
      },
      replace: update,
      patch: update,
      delete: async (target, check, context) => {
        const { reason } = context;
        const call = { target, fields: {}, reason, check: checkOf(check, toItem) };
        const { facts } = await perform(changeApiKey.delete, store, context, call);
        if (facts.outcome !== 'done') return false;
        changed('revoked', target, context);
        return true;
      },
    },
  });
}

/** Converts a valid body to the terms of a key. */
export function toTerms(body: Static<typeof ApiKeyFields>): ApiKeyTerms {
  const { name, scopes, queues = null, expiresAt = null } = body;
  return { name, scopes, queues, expiresAt: expiresAt === null ? null : new Date(expiresAt) };
}

function toItem(key: ApiKey): ApiKeyItem {
  return {
    id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    queues: key.queues && [...key.queues],
    expiresAt: key.expiresAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
    createdBy: key.createdBy,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
  };
}

/** The key to change, and its new terms, from the stored key. */
interface ApiKeyEdit {
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
