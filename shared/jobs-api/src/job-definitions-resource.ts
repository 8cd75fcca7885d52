import type { JobDefinition } from '@longshore/jobs';
import { defineResource, pageOf, readOnly, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { MaxAttempts, members, Name, nullable, Priority } from './fields.js';

const JobDefinitionItem = Type.Object({
  name: Type.String({ ...Name, description: 'The name of the job definition, and of its jobs' }),
  argsSchema: members('ArgsSchema', 'The JSON Schema that arguments must match'),
  queue: Type.String({ ...Name, description: 'The queue of jobs that name none' }),
  priority: Priority,
  maxAttempts: MaxAttempts,
  timeoutMs: nullable(
    Type.Integer({ minimum: 1, description: 'Time limit of one attempt, in milliseconds; null for none' }),
  ),
});

const inCode = 'Job definitions are part of the application’s code; deploy it to change them.';

/** `/job-definitions`: the jobs that the application defines, with their argument schemas and defaults. */
export function jobDefinitionsResource(definitions: readonly JobDefinition[]): Resource {
  const items = definitions.map(toJobDefinitionItem);
  return defineResource({
    name: 'job-definitions',
    description: 'The jobs that can be enqueued: names, argument schemas and defaults.',
    key: 'name',
    item: JobDefinitionItem,
    serverSet: ['name', 'argsSchema', 'queue', 'priority', 'maxAttempts', 'timeoutMs'],
    filters: {
      name: { field: 'name', match: 'partial', description: 'Definitions whose name contains this text.' },
      queue: {
        field: 'queue',
        match: 'exact',
        description: 'Definitions whose default queue is one of these.',
      },
    },
    notAllowed: readOnly(inCode),
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
