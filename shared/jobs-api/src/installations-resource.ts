import type { JobStorage } from '@longshore/jobs';
import { installationOperations, type OperableStorage } from '@longshore/jobs/operations';
import type { InstallationState } from '@longshore/jobs/storage';
import { defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { nullable, Time, toTime } from './fields.js';
import { served } from './operations.js';

const Item = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 59,
    pattern: '^[a-z_][a-z0-9_]*$',
    description: 'The schema of the jobs',
    examples: ['longshore'],
  }),
  pausedAt: nullable(
    Type.String({
      ...Time,
      description: 'When it was paused because it is a restored copy; null if it is not paused',
    }),
  ),
});

const only = 'There is one installation, which the API belongs to. Use PUT /installations/{name}/resume.';

/** `/installations`: the installation that the API belongs to, and whether it is paused as a whole. */
export function installationsResource(
  storage: OperableStorage & Pick<JobStorage, 'installation'>,
  requiresReason: boolean,
): Resource {
  const { installation } = storage;
  const { declarations, functions } = served(Object.values(installationOperations), {
    storage,
    requiresReason,
    toItem,
  });
  return defineResource({
    name: 'installations',
    description:
      'The installation that this API belongs to. A restored copy of a database can be paused as a whole: then no jobs start until it is resumed.',
    item: Item,
    key: 'name',
    serverSet: ['name', 'pausedAt'],
    operations: declarations,
    notAllowed: {
      create: only,
      replaceMany: only,
      deleteMany: only,
      replace: only,
      patch: only,
      delete: only,
    },
    storage: {
      list: async (query) => pageOf([toItem(await installation.read())], query),
      get: async (name) => {
        const state = await installation.read();
        return state.name === name ? toItem(state) : undefined;
      },
      operations: functions,
    },
  });
}

function toItem({ name, pausedAt }: InstallationState): Static<typeof Item> {
  return { name, pausedAt: toTime(pausedAt) };
}
