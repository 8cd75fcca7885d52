import type { JobStorage } from '@longshore/jobs';
import {
  defaultBucketMs,
  type DurationHistogram,
  type TimingBucket,
  type TimingQuery,
  timingsKept,
} from '@longshore/jobs/storage';
import {
  apiError,
  type CollectionQuery,
  defineResource,
  pageOf,
  readOnly,
  type Resource,
} from '@longshore/resources';
import Type, { type Static, type TNull, type TNumber, type TUnion } from 'typebox';
import { Name, nullable } from './fields.js';

const hourMs = 3_600_000;

const milliseconds = (description: string): TUnion<[TNumber, TNull]> =>
  nullable(
    Type.Number({ minimum: 0, description: `${description}, in milliseconds; null if there are none` }),
  );

const percentile = (name: string): TUnion<[TNumber, TNull]> =>
  milliseconds(`The ${name}, off by less than 19 %`);

const durations = (description: string) =>
  Type.Object(
    {
      count: Type.Integer({ minimum: 0, description: 'How many durations there are' }),
      meanMs: milliseconds('The exact mean'),
      p50Ms: percentile('median'),
      p95Ms: percentile('95th percentile'),
      p99Ms: percentile('99th percentile'),
    },
    { title: 'Durations', description },
  );

const Item = Type.Object({
  startsAt: Type.String({ format: 'date-time', description: 'When the bucket starts' }),
  bucketMs: Type.Integer({
    minimum: 60_000,
    maximum: 86_400_000,
    multipleOf: 60_000,
    description:
      'The length of the bucket: a multiple of a minute up to an hour, or a multiple of an hour. Minutes are kept for 31 hours, hours for 31 days',
  }),
  queue: nullable(Type.String({ ...Name, description: 'The queue; null for all queues' })),
  name: nullable(Type.String({ ...Name, description: 'The job name; null for all names' })),
  done: Type.Integer({ minimum: 0, description: 'Attempts that finished a job as done' }),
  failed: Type.Integer({ minimum: 0, description: 'Attempts that finished a job as failed' }),
  retried: Type.Integer({ minimum: 0, description: 'Attempts that failed and will be retried' }),
  waiting: durations('How long jobs waited from when they were due until an attempt started'),
  ready: durations(
    'How much of that time they were ready. The rest of it, concurrency keys blocked them, or no server made scheduled jobs ready',
  ),
  running: durations('How long attempts ran, whatever their outcome'),
  backlog: nullable(
    Type.Integer({
      minimum: 0,
      description:
        'The largest backlog (ready and blocked jobs), measured once a minute; null if no server was running. For a job name with a large backlog, an estimate',
    }),
  ),
});

/** `/statistics`: how many attempts ended, and how long jobs waited and ran, per time bucket. */
export function statisticsResource({ timings, clock }: Pick<JobStorage, 'timings' | 'clock'>): Resource {
  return defineResource({
    name: 'statistics',
    singular: 'statistic',
    description:
      'How many attempts ended, and how long jobs waited and ran, per time bucket: for all jobs, a queue, a job name, or a name in a queue. Covers the last hour by default. Servers add their figures every few seconds.',
    key: 'startsAt',
    item: Item,
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: {
      queue: { field: 'queue', match: 'exact', single: true, description: 'Only jobs of this queue.' },
      name: { field: 'name', match: 'exact', single: true, description: 'Only jobs of this name.' },
      startsAfter: {
        field: 'startsAt',
        match: 'from',
        description:
          'Buckets that start at this time or later, within the last 31 days; by default, those of the last hour.',
        hasExample: false,
      },
      startsBefore: {
        field: 'startsAt',
        match: 'to',
        description: 'Buckets that start at this time or earlier; by default, now.',
        hasExample: false,
      },
      bucketMs: {
        field: 'bucketMs',
        match: 'exact',
        single: true,
        description: 'The length of a bucket; by default, chosen so that there are at most 120 buckets.',
      },
    },
    sort: ['startsAt'],
    defaultSort: ['-startsAt'],
    search: [],
    notAllowed: readOnly('Servers record these figures while they run jobs.'),
    storage: {
      list: async (query) => {
        const request = readQuery(query, clock.now());
        if (request === null) return pageOf([], { ...query, filters: [] });
        const buckets = await timings.read(request).catch((error: unknown) => {
          throw error instanceof RangeError ? apiError(40003, error.message) : error;
        });
        const { bucketMs, queue = null, name = null } = request;
        return pageOf(
          buckets.map((bucket) => toItem(bucket, { bucketMs, queue, name })),
          { ...query, filters: [] },
        );
      },
    },
  });
}

/**
 * Returns which buckets to read; `null` if no bucket starts within the requested times.
 *
 * @throws {ApiError} 40003 if the times are further back than statistics are kept, or the caller is limited to several
 * queues and the request names none of them
 */
function readQuery({ filters }: CollectionQuery, nowMs: number): TimingQuery | null {
  const valuesOf = (parameter: string): readonly (string | number | boolean)[] =>
    filters.filter((filter) => filter.parameter === parameter).flatMap((filter) => filter.values);
  const timeOf = (parameter: string): number | undefined => {
    const [time] = valuesOf(parameter);
    return time === undefined ? undefined : Date.parse(String(time));
  };
  const [queue, ...otherQueues] = valuesOf('queue');
  if (otherQueues.length > 0)
    throw apiError(40003, 'queue is required: these credentials are limited to several queues');
  const [name] = valuesOf('name');
  const lastMs = Math.min(timeOf('startsBefore') ?? nowMs, nowMs);
  const firstMs = timeOf('startsAfter') ?? lastMs - hourMs;
  if (firstMs < nowMs - timingsKept.hour.forMs)
    throw apiError(40003, 'startsAfter must be within the last 31 days; older figures are not kept');
  const bucketMs = Number(valuesOf('bucketMs')[0] ?? defaultBucketMs(firstMs, lastMs, nowMs));
  const from = Math.ceil(firstMs / bucketMs) * bucketMs;
  if (from > lastMs) return null;
  return {
    from: new Date(from),
    until: new Date(lastMs + 1),
    bucketMs,
    ...(queue !== undefined && { queue: String(queue) }),
    ...(name !== undefined && { name: String(name) }),
  };
}

function toItem(
  { at, timing, backlog }: TimingBucket,
  request: Pick<Static<typeof Item>, 'bucketMs' | 'queue' | 'name'>,
): Static<typeof Item> {
  const { done, failed, retried, waiting, ready, running } = timing;
  return {
    startsAt: at.toISOString(),
    ...request,
    done,
    failed,
    retried,
    waiting: toDurations(waiting),
    ready: toDurations(ready),
    running: toDurations(running),
    backlog,
  };
}

function toDurations(histogram: DurationHistogram): Static<ReturnType<typeof durations>> {
  const { total: count, sumMs } = histogram;
  return {
    count,
    meanMs: count === 0 ? null : rounded(sumMs / count),
    p50Ms: rounded(histogram.percentile(0.5)),
    p95Ms: rounded(histogram.percentile(0.95)),
    p99Ms: rounded(histogram.percentile(0.99)),
  };
}

function rounded<Value extends number | null>(ms: Value): Value | number {
  return ms === null ? ms : Math.round(ms * 10) / 10;
}
