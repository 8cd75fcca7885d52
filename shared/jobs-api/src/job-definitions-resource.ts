import type { JobDefinition } from '@longshore/jobs';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { MaxAttempts, Name, nullable, Priority } from './fields.js';

const JobDefinitionItem = Type.Object({
  name: Name,
  argsSchema: Type.Object({}, { additionalProperties: true, description: 'JSON Schema of the arguments' }),
  queue: Name,
  priority: Priority,
  maxAttempts: MaxAttempts,
  timeoutMs: nullable(Type.Integer({ minimum: 1, description: 'Of one attempt; null for no limit' })),
});

/** `/job-definitions`: which jobs the application has, what they take, and what holds for them unless a request says otherwise. */
export function jobDefinitionsResource(definitions: readonly JobDefinition[]): Resource {
  const items = definitions.map(toJobDefinitionItem);
  return defineResource({
    name: 'job-definitions',
    description: 'The jobs that can be enqueued.',
    key: 'name',
    item: JobDefinitionItem,
    serverSet: ['name', 'argsSchema', 'queue', 'priority', 'maxAttempts', 'timeoutMs'],
    filters: { name: 'partial', queue: 'exact' },
    storage: {
      seeks: true,
      list: async (query) => pageOf(items, query),
      get: async (name) => items.find((item) => item.name === name),
    },
  });
}

function toJobDefinitionItem(definition: JobDefinition): Static<typeof JobDefinitionItem> {
  const { name, schema, queue, priority, maxAttempts, timeoutMs } = definition;
  return { name, argsSchema: { ...schema }, queue, priority, maxAttempts, timeoutMs };
}
