import type { JobDefinition, JobStorage } from '@longshore/jobs';
import { jobTypeOperations, type OperableStorage } from '@longshore/jobs/operations';
import { bounds, notPaused, otherNames, timingsKept } from '@longshore/jobs/storage';
import {
  defineResource,
  type OperationFunction,
  pageOf,
  readOnly,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import {
  integer,
  MaxAttempts,
  members,
  Name,
  nullable,
  pauseFieldNames,
  pauseFields,
  Priority,
  toPauseItem,
} from './fields.js';
import { declarationOf, perform } from './operations.js';

const dayMs = 86_400_000;

const Item = Type.Object({
  name: Type.String({ ...Name, description: 'The name of the jobs', examples: ['test'] }),
  ...pauseFields,
});

type Item = Static<typeof Item>;

const follows = 'A job type exists if it is defined, has run within the last day, or is paused.';

/** `/job-types`: one item per job name. Pausing a job type pauses its jobs in all queues at once. */
export function jobTypesResource(
  storage: OperableStorage & Pick<JobStorage, 'timings'>,
  definitions: readonly JobDefinition[],
  requiresReason: boolean,
): Resource {
  const { jobTypes, timings } = storage;
  const list = async (): Promise<Item[]> => {
    const [paused, timed] = await Promise.all([
      jobTypes.listPaused(),
      timings.listNames({ sinceMs: dayMs, limit: timingsKept.names }),
    ]);
    const pauses = new Map(paused.map((pause) => [pause.name, pause]));
    const names = new Set(
      [...definitions, ...timed, ...paused].map(({ name }) => name).filter((name) => name !== otherNames),
    );
    return Array.from(names, (name) => ({ name, ...toPauseItem(pauses.get(name) ?? notPaused) }));
  };
  const find = async (name: string): Promise<Item | undefined> =>
    (await list()).find((item) => item.name === name);
  /** Job types exist without being stored, so the storage cannot say whether one does. */
  const functionFor = (
    operation: (typeof jobTypeOperations)['pause' | 'resume'],
  ): OperationFunction<Item, unknown> => {
    return async (target, body, context, check) => {
      const { reason, ...fields } = body as { readonly reason?: string };
      const item = await find(target);
      if (item === undefined) return undefined;
      check?.(item);
      const { subject } = await perform(operation, storage, context, { target, fields, reason });
      return { name: target, ...toPauseItem(subject ?? notPaused) };
    };
  };
  return defineResource({
    name: 'job-types',
    description:
      'All jobs of one name, across queues. While a type is paused, servers skip its jobs and run other jobs of the same queues.',
    key: 'name',
    item: Item,
    serverSet: ['name', ...pauseFieldNames],
    filters: { name: { field: 'name', match: 'exact', description: 'Job types with these names.' } },
    operations: {
      pause: declarationOf(jobTypeOperations.pause, requiresReason),
      resume: declarationOf(jobTypeOperations.resume, requiresReason),
    },
    notAllowed: {
      create: follows,
      replaceMany: follows,
      deleteMany: follows,
      replace: follows,
      patch: follows,
      delete: follows,
    },
    storage: {
      seeks: true,
      list: async (query) => pageOf(await list(), query),
      get: find,
      operations: {
        pause: functionFor(jobTypeOperations.pause),
        resume: functionFor(jobTypeOperations.resume),
      },
    },
  });
}

const JobDefinitionItem = Type.Object({
  name: Type.String({ ...Name, description: 'The name of the job definition, and of its jobs' }),
  aliases: Type.Array(Type.String({ ...Name, description: 'An earlier name' }), {
    description: 'Earlier names; jobs with these names run, too, and new ones get the current name',
  }),
  version: integer(bounds.version, 'The version of its arguments'),
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
    serverSet: ['name', 'aliases', 'version', 'argsSchema', 'queue', 'priority', 'maxAttempts', 'timeoutMs'],
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
  const { name, aliases, version, schema, queue, priority, maxAttempts, timeoutMs } = definition;
  return {
    name,
    aliases: [...aliases],
    version,
    argsSchema: { ...schema },
    queue,
    priority,
    maxAttempts,
    timeoutMs,
  };
}
