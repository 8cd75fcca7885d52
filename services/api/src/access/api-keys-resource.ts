import { namePattern } from '@longshore/jobs/storage';
import {
  type CallContext,
  defineResource,
  type ItemChange,
  pageOf,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { type ApiKey, type ApiKeyTerms, newApiKey, scopes } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';
import type { KeyRing } from './key-ring.js';

export const apiKeys = 'api-keys';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** Returns a nullable version of a schema, with `null` as the default. In a PATCH body, `null` clears the value. */
const nullUnlessGiven = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { default: null });
const Time = Type.String({ format: 'date-time' });

const Name = Type.String({ minLength: 1, maxLength: 100, description: 'A display name', examples: ['shop'] });
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 4, uniqueItems: true });
const Queues = nullUnlessGiven(
  Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: namePattern }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'The queues to which the key is restricted; null for all',
    examples: [['mail']],
  }),
);
const ExpiresAt = nullUnlessGiven(
  Type.String({ format: 'date-time', description: 'When the key expires; null for never' }),
);

const serverSet = ['id', 'createdAt', 'createdBy', 'lastUsedAt', 'key'] as const;

const ApiKeyItem = Type.Object({
  id: Type.String({
    minLength: 16,
    maxLength: 16,
    pattern: '^[0-9a-f]{16}$',
    examples: ['5f0c1d2e3b4a5968'],
  }),
  name: Name,
  scopes: Scopes,
  queues: Queues,
  expiresAt: ExpiresAt,
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

/** The fields of a new key, over HTTP and on the command line. */
export const NewApiKey = Type.Object({
  name: Name,
  scopes: Scopes,
  queues: Type.Optional(Queues),
  expiresAt: Type.Optional(ExpiresAt),
});

/** A log entry for the creation, change or revocation of an API key. */
export interface ApiKeyEvent {
  readonly action: 'made' | 'changed' | 'revoked';
  readonly id: string;
  readonly by: string | undefined;
}

export interface ApiKeysParts {
  readonly store: ApiKeyStore;
  /** The cache of keys. A key is removed from the cache when it is changed or revoked. */
  readonly ring: KeyRing;
  readonly onChange: (event: ApiKeyEvent) => void;
}

/** `/api-keys`: manages API keys. Deleting a key revokes it. */
export function apiKeysResource({ store, ring, onChange }: ApiKeysParts): Resource {
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
    const key = await store.change(
      id,
      (current) => toTerms(change.apply(toItem(current))),
      context.transaction,
    );
    if (key === undefined) return undefined;
    changed('changed', id, context);
    return toItem(key);
  };
  return defineResource({
    name: apiKeys,
    description:
      'The API keys of callers. Deleting a key revokes it: within five seconds, no process accepts it.',
    item: ApiKeyItem,
    serverSet,
    shownOnce: ['key'],
    create: NewApiKey,
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
        const { key: unstored, token } = newApiKey(toTerms(body), context.principal?.name ?? null);
        const key = await store.add(unstored, context.transaction);
        changed('made', key.id, context);
        return { ...toItem(key), key: token };
      },
      replace: update,
      patch: update,
      delete: async (id, check, context) => {
        const existed = await store.remove(id, (current) => check(toItem(current)), context.transaction);
        if (existed) changed('revoked', id, context);
        return existed;
      },
    },
  });
}

/** Converts a valid body to the terms of a key. */
export function toTerms(body: Static<typeof NewApiKey>): ApiKeyTerms {
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
