import type { JobDefinition, JobStorage } from '@longshore/jobs';
import { checkPause, notPaused, otherNames, pauseSince, timingsKept } from '@longshore/jobs/storage';
import { type CallContext, type Check, defineResource, pageOf, type Resource } from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name } from './fields.js';
import {
  type PauseBody,
  pauseBody,
  pauseFieldNames,
  pauseFields,
  pauseNote,
  pauseOptions,
  replacesPause,
  toPauseItem,
} from './pauses.js';
import { audited, ReasonBody } from './reasons.js';

const dayMs = 86_400_000;

const Item = Type.Object({
  name: Type.String({ ...Name, description: 'The name of the jobs', examples: ['test'] }),
  ...pauseFields,
});

type Item = Static<typeof Item>;

const follows = 'A job type exists if it is defined, has run within the last day, or is paused.';

/** `/job-types`: one item per job name. Pausing a job type pauses its jobs in all queues at once. */
export function jobTypesResource(
  { jobTypes, timings, clock }: Pick<JobStorage, 'jobTypes' | 'timings' | 'clock'>,
  definitions: readonly JobDefinition[],
  requiresReason: boolean,
): Resource {
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
  const pause = async (
    name: string,
    body: PauseBody,
    context: CallContext,
    check: Check<Item> | undefined,
  ): Promise<Item | undefined> => {
    const item = await find(name);
    if (item === undefined) return undefined;
    check?.(item);
    const now = clock.now();
    const options = pauseOptions(body, context, now);
    const before = await jobTypes.pause(name, {
      ...options,
      transaction: context.transaction,
      audit: audited(context, { action: 'types/pause', target: name, reason: body.reason }, (pause) =>
        replacesPause(pause ?? notPaused, options),
      ),
    });
    if (before !== null && !replacesPause(before, options)) return { name, ...toPauseItem(before) };
    return { name, ...toPauseItem(pauseSince(new Date(now), checkPause(options, now))) };
  };
  const resume = async (
    name: string,
    { reason }: ReasonBody,
    context: CallContext,
    check: Check<Item> | undefined,
  ): Promise<Item | undefined> => {
    const item = await find(name);
    if (item === undefined) return undefined;
    check?.(item);
    await jobTypes.resume(name, {
      transaction: context.transaction,
      audit: audited(context, { action: 'types/resume', target: name, reason }, (pause) => pause !== null),
    });
    return { name, ...toPauseItem(notPaused) };
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
      pause: {
        summary: 'Pause a job type in all queues; running jobs continue',
        note: pauseNote,
        body: pauseBody(requiresReason),
      },
      resume: {
        summary: 'Resume a paused job type',
        note: 'Has no effect if it is not paused.',
        body: ReasonBody,
      },
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
      operations: { pause, resume },
    },
  });
}
