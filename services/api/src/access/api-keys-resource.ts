import { type CallContext, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { type ApiKey, type ApiKeyTerms, newApiKey, scopes } from './api-key.js';
import type { ApiKeyStore } from './api-key-store.js';
import type { KeyRing } from './key-ring.js';

export const apiKeys = 'api-keys';

const nullable = <Schema extends Type.TSchema>(schema: Schema) => Type.Union([schema, Type.Null()]);
/** Makes a schema nullable. `null` is the default, and in a patch removes the value. */
const nullUnlessGiven = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { default: null });
const Time = Type.String({ format: 'date-time' });

const Name = Type.String({ minLength: 1, maxLength: 100, description: 'For people', examples: ['shop'] });
const Scopes = Type.Array(Type.Enum([...scopes]), { minItems: 1, maxItems: 4, uniqueItems: true });
const Queues = nullUnlessGiven(
  Type.Array(Type.String({ pattern: '^[A-Za-z0-9][\\w.:-]{0,99}$' }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: 'The only queues that exist for its bearer; null for all',
    examples: [['mail']],
  }),
);
const ExpiresAt = nullUnlessGiven(
  Type.String({ format: 'date-time', description: 'null: it does not expire' }),
);

const ApiKeyItem = Type.Object({
  id: Type.String({ pattern: '^[0-9a-f]{16}$', examples: ['5f0c1d2e3b4a5968'] }),
  name: Name,
  scopes: Scopes,
  queues: Queues,
  expiresAt: ExpiresAt,
  createdAt: Time,
  createdBy: nullable(Type.String({ description: 'Who made it; null if that was the command' })),
  lastUsedAt: nullable(Type.String({ format: 'date-time', description: 'To the minute' })),
  key: Type.Optional(
    Type.String({
      description: 'What its bearer sends. Only the answer to the POST has it; nobody can get it again.',
      examples: ['lsk_{id}_{secret}'],
    }),
  ),
});
type ApiKeyItem = Static<typeof ApiKeyItem>;

const NewApiKey = Type.Object({
  name: Name,
  scopes: Scopes,
  queues: Type.Optional(Queues),
  expiresAt: Type.Optional(ExpiresAt),
});

/** A change to a key, to be logged. */
export interface ApiKeyEvent {
  readonly action: 'made' | 'changed' | 'revoked';
  readonly id: string;
  readonly by: string | undefined;
}

export interface ApiKeysParts {
  readonly store: ApiKeyStore;
  /** The cache of keys. A changed key is removed from it. */
  readonly ring: KeyRing;
  readonly onChange: (event: ApiKeyEvent) => void;
}

/** `/api-keys`: manages API keys. Deleting a key revokes it. */
export function apiKeysResource({ store, ring, onChange }: ApiKeysParts): Resource {
  const changed = (action: ApiKeyEvent['action'], id: string, { principal }: CallContext): void => {
    ring.forget(id);
    onChange({ action, id, by: principal?.name });
  };
  return defineResource({
    name: apiKeys,
    description:
      'Keys of callers. A key that is deleted is revoked: within five seconds no process accepts it.',
    item: ApiKeyItem,
    serverSet: ['id', 'createdAt', 'createdBy', 'lastUsedAt', 'key'],
    shownOnce: ['key'],
    create: NewApiKey,
    filters: { name: 'partial' },
    defaultSort: ['-createdAt'],
    storage: {
      seeks: true,
      list: async (query) => pageOf((await store.list()).map(toItem), query),
      get: async (id) => {
        const key = await store.find(id);
        return key && toItem(key);
      },
      create: async ({ name, scopes, queues = null, expiresAt = null }, context) => {
        const terms = toTerms({ name, scopes, queues, expiresAt });
        const { key, token } = newApiKey(terms, context.principal?.name ?? null);
        const { transaction } = context;
        await store.add(key, transaction);
        if (transaction === undefined) changed('made', key.id, context);
        else transaction.afterCommit(() => changed('made', key.id, context));
        return { ...toItem(key), key: token };
      },
      patch: async (id, change, context) => {
        const key = await store.change(id, (current) => toTerms(change.apply(toItem(current))));
        if (key === undefined) return undefined;
        changed('changed', id, context);
        return toItem(key);
      },
      delete: async (id, check, context) => {
        const existed = await store.remove(id, (current) => check(toItem(current)));
        if (existed) changed('revoked', id, context);
        return existed;
      },
    },
  });
}

function toTerms(fields: Pick<ApiKeyItem, 'name' | 'scopes' | 'queues' | 'expiresAt'>): ApiKeyTerms {
  const { name, scopes, queues, expiresAt } = fields;
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
