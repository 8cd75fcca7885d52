import type { JobDefinition, JobStorage } from '@longshore/jobs';
import { otherNames, timingsKept } from '@longshore/jobs/storage';
import { type CallContext, type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable, toTime } from './fields.js';

const dayMs = 86_400_000;

const Item = Type.Object({
  name: Type.String({ ...Name, description: 'The name of the jobs', examples: ['test'] }),
  pausedAt: nullable(
    Type.String({ format: 'date-time', description: 'When the type was paused; null if it is not paused' }),
  ),
});

type Item = Static<typeof Item>;

const follows = 'A job type exists if it is defined, has run within the last day, or is paused.';

/** `/job-types`: all jobs of one name, which can be paused in all queues at once. */
export function jobTypesResource(
  { jobTypes, timings, clock }: Pick<JobStorage, 'jobTypes' | 'timings' | 'clock'>,
  definitions: readonly JobDefinition[],
): Resource {
  const list = async (): Promise<Item[]> => {
    const [paused, timed] = await Promise.all([
      jobTypes.listPaused(),
      timings.listNames({ sinceMs: dayMs, limit: timingsKept.names }),
    ]);
    const since = new Map(paused.map(({ name, pausedAt }) => [name, pausedAt]));
    const names = new Set(
      [...definitions, ...timed, ...paused].map(({ name }) => name).filter((name) => name !== otherNames),
    );
    return Array.from(names, (name) => ({ name, pausedAt: toTime(since.get(name) ?? null) }));
  };
  const find = async (name: string): Promise<Item | undefined> =>
    (await list()).find((item) => item.name === name);
  const setPaused =
    (set: 'pause' | 'resume') =>
    async (
      name: string,
      _body: unknown,
      { transaction }: CallContext,
      check: Check<Item> | undefined,
    ): Promise<Item | undefined> => {
      const item = await find(name);
      if (item === undefined) return undefined;
      check?.(item);
      const before = await jobTypes[set](name, { transaction });
      if (set === 'resume') return { name, pausedAt: null };
      return { name, pausedAt: (before ?? new Date(clock.now())).toISOString() };
    };
  return defineResource({
    name: 'job-types',
    description:
      'All jobs of one name, across queues. While a type is paused, servers skip its jobs and run other jobs of the same queues.',
    key: 'name',
    item: Item,
    serverSet: ['name', 'pausedAt'],
    filters: { name: { field: 'name', match: 'exact', description: 'Job types with these names.' } },
    operations: {
      pause: { summary: 'Pause a job type in all queues; running jobs continue' },
      resume: { summary: 'Resume a paused job type' },
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
      operations: { pause: setPaused('pause'), resume: setPaused('resume') },
    },
  });
}
