import type { JobStorage } from '@longshore/jobs';
import {
  type DurationHistogram,
  type TimingBucket,
  timingsKept,
  usualBucketMs,
} from '@longshore/jobs/storage';
import {
  apiError,
  type CollectionQuery,
  defineResource,
  pageOf,
  readOnly,
  type Resource,
} from '@longshore/resources';
import Type, { type Static } from 'typebox';
import { Name, nullable } from './fields.js';

const hourMs = 3_600_000;

const Milliseconds = nullable(Type.Number({ minimum: 0 }));

const Durations = Type.Object(
  {
    count: Type.Integer({ minimum: 0 }),
    meanMs: Milliseconds,
    p50Ms: Milliseconds,
    p95Ms: Milliseconds,
    p99Ms: Milliseconds,
  },
  { description: 'The mean is exact; percentiles are off by at most 10 %. Null if there are none' },
);

const Item = Type.Object({
  at: Type.String({ format: 'date-time', description: 'When the bucket starts' }),
  bucketMs: Type.Integer({
    minimum: 60_000,
    maximum: 86_400_000,
    description:
      'The length of the bucket: a multiple of a minute up to an hour, or a multiple of an hour. Minutes are kept for 31 hours, hours for 31 days',
  }),
  queue: nullable(Type.String({ ...Name, description: 'The queue; null for all queues' })),
  name: nullable(Type.String({ ...Name, description: 'The job name; null for all names' })),
  done: Type.Integer({ minimum: 0, description: 'Attempts that finished a job as done' }),
  failed: Type.Integer({ minimum: 0, description: 'Attempts that finished a job as failed' }),
  retried: Type.Integer({ minimum: 0, description: 'Attempts that failed and will be retried' }),
  waiting: Durations,
  running: Durations,
  backlog: nullable(
    Type.Integer({
      minimum: 0,
      description:
        'The largest number of ready jobs, measured once a minute; null if no server was running. For a job name with many ready jobs, an estimate',
    }),
  ),
});

/** `/statistics`: how many jobs ran over time, and how long they waited and ran. */
export function statisticsResource({ timings, clock }: Pick<JobStorage, 'timings' | 'clock'>): Resource {
  return defineResource({
    name: 'statistics',
    singular: 'statistic',
    description:
      'How many attempts ended, and how long jobs waited and ran, per time bucket: for all jobs, a queue, a job name, or a name in a queue. Covers the last hour by default. Servers add their figures every few seconds.',
    key: 'at',
    item: Item,
    serverSet: Object.keys(Item.properties) as (keyof typeof Item.properties)[],
    filters: {
      queue: { field: 'queue', match: 'exact', description: 'Only jobs of this queue.' },
      name: { field: 'name', match: 'exact', description: 'Only jobs of this name.' },
      from: { field: 'at', match: 'from', description: 'The start; an hour ago by default.' },
      until: { field: 'at', match: 'to', description: 'The end; now by default.' },
      bucketMs: {
        field: 'bucketMs',
        match: 'exact',
        description: 'The length of a bucket; by default, chosen so that there are at most 120 buckets.',
      },
    },
    sort: ['at'],
    search: [],
    limits: { default: 800 },
    notAllowed: readOnly('Servers record these figures while they run jobs.'),
    storage: {
      list: async (query) => {
        const asked = readQuery(query, clock.now());
        const buckets = await timings.read(asked).catch((error: unknown) => {
          throw error instanceof RangeError ? apiError(40003, error.message) : error;
        });
        const { bucketMs, queue = null, name = null } = asked;
        return pageOf(
          buckets.map((bucket) => toItem(bucket, { bucketMs, queue, name })),
          { ...query, filters: [] },
        );
      },
    },
  });
}

interface Asked {
  readonly from: Date;
  readonly until: Date;
  readonly bucketMs: number;
  readonly queue?: string;
  readonly name?: string;
}

/** @throws {ApiError} 40003 if a parameter has several values, or the span is no longer kept */
function readQuery({ filters }: CollectionQuery, nowMs: number): Asked {
  const valueOf = (parameter: string): string | undefined => {
    const values = filters
      .filter((filter) => filter.parameter === parameter)
      .flatMap((filter) => filter.values);
    if (values.length > 1) throw apiError(40003, `Give only one ${parameter}: figures cover one at a time`);
    return values[0] === undefined ? undefined : String(values[0]);
  };
  const untilMs = Math.min(nowMs, Date.parse(valueOf('until') ?? '') || nowMs);
  const fromMs = Date.parse(valueOf('from') ?? '') || untilMs - hourMs;
  if (fromMs >= untilMs) throw apiError(40003, 'from must be earlier than until and not in the future');
  if (fromMs < nowMs - timingsKept.hour.forMs)
    throw apiError(40003, 'from must be within the last 31 days; older figures are not kept');
  const bucketMs = Number(valueOf('bucketMs') ?? usualBucketMs(fromMs, untilMs, nowMs));
  const queue = valueOf('queue');
  const name = valueOf('name');
  return {
    from: new Date(fromMs),
    until: new Date(untilMs),
    bucketMs,
    ...(queue !== undefined && { queue }),
    ...(name !== undefined && { name }),
  };
}

function toItem(
  { at, timing, backlog }: TimingBucket,
  asked: Pick<Static<typeof Item>, 'bucketMs' | 'queue' | 'name'>,
): Static<typeof Item> {
  const { done, failed, retried, waiting, running } = timing;
  return {
    at: at.toISOString(),
    ...asked,
    done,
    failed,
    retried,
    waiting: toDurations(waiting),
    running: toDurations(running),
    backlog,
  };
}

function toDurations(histogram: DurationHistogram): Static<typeof Durations> {
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
