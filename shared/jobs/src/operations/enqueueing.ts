import Type from 'typebox';
import { toNewJob } from '../client/new-job.js';
import { bounds } from '../job/bounds.js';
import type { JobDefinition } from '../job/definition.js';
import { IdSource } from '../job/id.js';
import type { EnqueueResult } from '../storage/enqueuer.js';
import { Args, Priority } from './job-edits.js';
import { operation } from './operation.js';

const EnqueueFields = Type.Object(
  {
    name: Type.String({ description: 'The name of its definition' }),
    queue: Type.Optional(Type.String({ description: 'Its queue; by default, that of its definition' })),
    priority: Priority,
    args: Args,
    tags: Type.Optional(Type.Array(Type.String(), { description: 'Labels to search by' })),
    delayMs: Type.Optional(
      Type.Integer({
        minimum: bounds.delayMs.min,
        maximum: bounds.delayMs.max,
        description: 'Milliseconds until it becomes ready',
      }),
    ),
    runAt: Type.Optional(Type.String({ format: 'date-time', description: 'When it becomes ready' })),
  },
  { additionalProperties: false },
);

/** A job that has been enqueued, or the job that holds its unique key. */
interface Enqueued {
  readonly id: string;
}

/** How long an idempotency key would be valid; operators give none. */
const noKeys = 0;

/**
 * Enqueueing a job for an operator. The target is the definition of the job.
 *
 * Programs enqueue jobs with a client or over the API, which record no audit entries.
 */
export const jobEnqueueing = operation<
  typeof EnqueueFields,
  never,
  EnqueueResult & Enqueued,
  JobDefinition,
  Enqueued
>({
  on: 'jobs',
  name: 'enqueue',
  summary: 'Enqueue a job',
  done: 'enqueued',
  message: 'The job has been enqueued.',
  role: 'operator',
  fields: EnqueueFields,
  change: async ({ enqueuer, clock }, { target: definition, fields }, options) => {
    const { name: _, runAt, args, ...rest } = fields;
    const given = { ...rest, ...(runAt !== undefined && { runAt: new Date(runAt) }) };
    const job = toNewJob({ definition, args, options: given }, noKeys, new IdSource(clock), []);
    const idIn = ({ holders }: EnqueueResult): string => holders.get(job.id) ?? job.id;
    const { audit, ...others } = options;
    const result = await enqueuer.enqueueAudited(job, {
      ...others,
      audit: audit && ((stored: EnqueueResult) => audit({ ...stored, id: idIn(stored) })),
    });
    return { ...result, id: idIn(result) };
  },
  facts: ({ id, holders }) => ({ outcome: holders.size === 0 ? 'done' : 'unchanged', target: id }),
  after: (_storage, _call, { id }) => ({ id }),
});
