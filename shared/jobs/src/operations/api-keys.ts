import Type from 'typebox';
import { namePattern } from '../job/bounds.js';
import type { OperationDescription } from './operation-description.js';

/** The scopes of API keys and tokens. The API service defines which calls require which scope. */
export const apiKeyScopes = ['read', 'write', 'operate', 'admin'] as const;

/** Returns a nullable version of a schema, with `null` as the default. In a PATCH body, `null` clears the value. */
const nullUnlessGiven = <Schema extends Type.TSchema>(schema: Schema) =>
  Type.Union([schema, Type.Null()], { default: null });

/** What an API key allows: the fields of a new key, over HTTP and on the command line. */
export const ApiKeyFields = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100, description: 'A display name', examples: ['shop'] }),
  scopes: Type.Array(Type.Enum([...apiKeyScopes]), { minItems: 1, maxItems: 4, uniqueItems: true }),
  queues: Type.Optional(
    nullUnlessGiven(
      Type.Array(Type.String({ minLength: 1, maxLength: 100, pattern: namePattern }), {
        minItems: 1,
        maxItems: 100,
        uniqueItems: true,
        description: 'The queues to which the key is restricted; null for all',
        examples: [['mail']],
      }),
    ),
  ),
  expiresAt: Type.Optional(
    nullUnlessGiven(
      Type.String({ format: 'date-time', description: 'When the key expires; null for never' }),
    ),
  ),
});

const common = { on: 'keys', role: 'admin' } as const;

/** The operations on an API key. The API service, which stores the keys, carries them out. */
export const apiKeyOperations = {
  create: {
    ...common,
    name: 'create',
    summary: 'Create an API key',
    done: 'created',
    fields: ApiKeyFields,
  },
  edit: {
    ...common,
    name: 'edit',
    summary: 'Change an API key',
    done: 'changed',
    fields: Type.Partial(ApiKeyFields),
  },
  delete: {
    ...common,
    name: 'delete',
    summary: 'Revoke an API key',
    note: 'Within five seconds, no process accepts it.',
    done: 'revoked',
    isReasoned: true,
    fields: Type.Object({}, { additionalProperties: false }),
  },
} satisfies Record<string, OperationDescription>;
