import {
  type EnqueueOptions,
  InvalidArgumentsError,
  type ControlResult,
  type JobClient,
  type JobControl,
  type JobDefinition,
  type JobReader,
} from '@longshore/jobs';
import {
  ApiError,
  apiError,
  type CollectionQuery,
  defineResource,
  type Resource,
} from '@longshore/resources';
import type { Static } from 'typebox';
import { attemptsResource } from './attempts-resource.js';
import { continuationsResource } from './continuations-resource.js';
import { jobFilters, toJobFilter } from './job-filters.js';
import { JobItem, NewJobItem, toJobItem } from './job-item.js';

export interface JobsApiOptions {
  readonly storage: JobReader & JobControl;
  readonly client: JobClient;
  /** The jobs that may be enqueued. */
  readonly definitions: readonly JobDefinition[];
}

/** `/jobs`: hand over a job, look at jobs. */
export function jobsResource({ storage, client, definitions }: JobsApiOptions): Resource {
  const byName = new Map(definitions.map((definition) => [definition.name, definition]));
  return defineResource({
    name: 'jobs',
    description: 'Units of work, run by a server outside of the request.',
    item: JobItem,
    serverSet: [
      'id',
      'state',
      'result',
      'error',
      'attempt',
      'createdAt',
      'startedAt',
      'finishedAt',
      'serverId',
    ],
    create: NewJobItem,
    filters: jobFilters,
    sort: ['createdAt'],
    defaultSort: ['-createdAt'],
    operations: {
      cancel: { summary: 'Cancel a job that is not finished; a running one is told through its signal' },
      retry: { summary: 'Send a failed or cancelled job back to its queue' },
      run: { summary: 'Make a scheduled job ready now' },
    },
    children: [{ resource: attemptsResource(storage) }, { resource: continuationsResource(storage) }],
    storage: {
      list: async (query) => {
        const filter = toJobFilter(query.filters);
        const [jobs, total] = await Promise.all([
          storage.listJobs({ filter, order: orderOf(query), limit: query.limit, offset: query.offset }),
          query.count === 'none' ? undefined : storage.countJobs(filter),
        ]);
        return { items: jobs.map(toJobItem), total: total?.count, estimated: total?.exact === false };
      },
      get: async (id) => {
        const job = await storage.findJob(id);
        return job === null ? undefined : toJobItem(job);
      },
      create: async (body) => {
        const definition = byName.get(body.name);
        if (definition === undefined) throw unknownName(body.name, [...byName.keys()]);
        const { id } = await enqueue(client, definition, body);
        const job = await storage.findJob(id);
        if (job === null) throw new Error(`The job ${id} was enqueued and cannot be found`);
        return toJobItem(job);
      },
      delete: async (id, check) => {
        const job = await storage.findJob(id);
        if (job !== null) check(toJobItem(job));
        return itemAfter(await storage.deleteJob(id), 'deleted') !== undefined;
      },
      operations: {
        cancel: async (id) => itemAfter(await storage.cancelJob(id), 'cancelled'),
        retry: async (id) => itemAfter(await storage.retryJob(id), 'retried'),
        run: async (id) => itemAfter(await storage.runJob(id), 'run now'),
      },
    },
  });
}

/** @throws {ApiError} 40902 if the job's state does not allow it */
function itemAfter(result: ControlResult, done: string): Static<typeof JobItem> | undefined {
  if (result.outcome === 'unknown') return undefined;
  if (result.outcome === 'illegal')
    throw apiError(40902, `A job in state ${result.job.state} cannot be ${done}`);
  return toJobItem(result.job);
}

async function enqueue(
  client: JobClient,
  definition: JobDefinition,
  body: Static<typeof NewJobItem>,
): Promise<{ id: string }> {
  const options: EnqueueOptions = {
    ...(body.queue === undefined ? {} : { queue: body.queue }),
    ...(body.priority === undefined ? {} : { priority: body.priority }),
    ...(body.maxAttempts === undefined ? {} : { maxAttempts: body.maxAttempts }),
    ...(body.runAt === undefined ? {} : { runAt: new Date(body.runAt) }),
    ...(body.tags === undefined ? {} : { tags: body.tags }),
  };
  try {
    return await client.enqueue(definition, body.args ?? {}, options);
  } catch (error) {
    if (!(error instanceof InvalidArgumentsError)) throw error;
    const [first, ...rest] = error.problems.map(({ path, message }) => ({
      code: 42202 as const,
      internalMessage: `${path} ${message}`,
    }));
    throw first === undefined ? error : new ApiError([first, ...rest]);
  }
}

function unknownName(name: string, known: readonly string[]): ApiError {
  return apiError(
    42202,
    `name "${name}" is no job of this application; it has ${known.join(', ') || 'none'}`,
  );
}

function orderOf(query: CollectionQuery): 'newest' | 'oldest' {
  return query.sort[0]?.direction === 'asc' ? 'oldest' : 'newest';
}
