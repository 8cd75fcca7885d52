import type { JobState, JsonValue } from '@longshore/jobs';
import { type ArgsFilter, clamp, filterTimes, type JobFilter, timeBounds } from '@longshore/jobs/storage';
import type { CollectionQuery, Filter, Selection } from '@longshore/resources';

export const jobFilters = {
  state: { field: 'state', match: 'exact', description: 'Jobs in one of these states.' },
  queue: { field: 'queue', match: 'exact', description: 'Jobs in one of these queues.' },
  name: { field: 'name', match: 'exact', description: 'Jobs with one of these names.' },
  tag: { field: 'tags', match: 'exact', description: 'Jobs with one of these tags.' },
  recurringJobId: {
    field: 'recurringJobId',
    match: 'exact',
    description: 'Jobs that one of these recurring jobs enqueued.',
  },
  batchId: { field: 'batchId', match: 'exact', description: 'Jobs of one of these batches.' },
  parentId: {
    field: 'after.parents',
    match: 'exact',
    description: 'Jobs that depend, or depended, on one of these jobs or batches.',
  },
  enqueuedBy: {
    field: 'enqueuedBy',
    match: 'exact',
    description: 'Jobs that the handler of one of these jobs enqueued.',
  },
  correlate: {
    field: 'correlate',
    match: 'exact',
    description: 'Jobs with one of these keys for signals.',
  },
  awaits: {
    field: 'awaits',
    match: 'exact',
    description: 'Scheduled jobs whose handler waits for a signal with one of these names.',
  },
  serverId: {
    field: 'serverId',
    match: 'exact',
    description: 'Jobs that one of these servers is running or ran last.',
  },
  createdAfter: { field: 'createdAt', match: 'from', description: 'Jobs created at this time or later.' },
  createdBefore: { field: 'createdAt', match: 'to', description: 'Jobs created at this time or earlier.' },
  finishedAfter: {
    field: 'finishedAt',
    match: 'from',
    description: 'Jobs that finished at this time or later.',
  },
  finishedBefore: {
    field: 'finishedAt',
    match: 'to',
    description: 'Jobs that finished at this time or earlier.',
  },
  startedAfter: {
    field: 'startedAt',
    match: 'from',
    description: 'Jobs whose latest attempt started at this time or later.',
  },
  startedBefore: {
    field: 'startedAt',
    match: 'to',
    description: 'Jobs whose latest attempt started at this time or earlier.',
  },
  dueAfter: {
    field: 'runAt',
    match: 'from',
    description: 'Jobs that are or were due at this time or later.',
  },
  dueBefore: {
    field: 'runAt',
    match: 'to',
    description: 'Jobs that are or were due at this time or earlier.',
  },
  priority: { field: 'priority', match: 'exact', description: 'Jobs with one of these priorities.' },
  concurrencyKey: {
    field: 'concurrency.key',
    match: 'exact',
    description: 'Jobs with one of these concurrency keys.',
  },
  error: {
    field: 'error',
    match: 'partial',
    description:
      'Jobs whose latest error, such as `TypeError: No ship`, contains this text, regardless of case.',
  },
  args: {
    field: 'args',
    match: 'path',
    description:
      'Jobs whose arguments have this value at a path: `args.order.id=7` matches the number and the text.',
  },
} as const;

/**
 * Converts a selection to a job filter; `null` if no job can match. If the path and the query filter by the same field,
 * as in `/queues/mail/jobs?queue=mail`, a job must match both.
 */
export function toJobFilter({ filters, search }: Pick<Selection, 'filters' | 'search'>): JobFilter | null {
  const result: { -readonly [Member in keyof JobFilter]: JobFilter[Member] } = {};
  const args: ArgsFilter[] = [];
  for (const { parameter, match, path, values } of filters) {
    const texts = values.map(String);
    if (match === 'path') args.push({ path, values: texts.flatMap(candidateValues) });
    else if (parameter === 'error') result.error = texts;
    else if (parameter === 'priority') result.priority = values.map(Number);
    else if (parameter === 'state')
      result.state = texts as JobState[]; // checked against the schema of the field
    else if (isTextual(parameter)) {
      const before = result[parameter];
      const both = before === undefined ? texts : before.filter((text) => texts.includes(text));
      if (both.length === 0) return null;
      result[parameter] = both;
    } else if (isBound(parameter)) result[parameter] = boundOf(texts[0] ?? '', match);
  }
  if (args.length > 0) result.args = args;
  if (search !== undefined) result.q = search;
  return result;
}

const textual = [
  'queue',
  'name',
  'tag',
  'recurringJobId',
  'batchId',
  'parentId',
  'enqueuedBy',
  'correlate',
  'awaits',
  'serverId',
  'concurrencyKey',
] as const;

function isTextual(parameter: string): parameter is (typeof textual)[number] {
  return (textual as readonly string[]).includes(parameter);
}

function isBound(parameter: string): parameter is (typeof filterTimes)[number] {
  return (filterTimes as readonly string[]).includes(parameter);
}

/**
 * Converts a time in a query to a bound in the job store. Bounds in the API are inclusive, but the upper bound of the
 * store is exclusive. Clamps the result to `timeBounds`.
 */
export function boundOf(time: string, match: Filter['match']): Date {
  return new Date(clamp(Date.parse(time) + (match === 'to' ? 1 : 0), timeBounds));
}

/**
 * Returns the values that a text in a query can match. For example, `7` matches both the number 7 and the string `"7"`.
 */
function candidateValues(text: string): JsonValue[] {
  const isLiteral = /^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/.test(text);
  return isLiteral ? [text, JSON.parse(text) as JsonValue] : [text];
}

/** Returns whether the response to a query includes arguments or results. */
export function includesDocuments({ fields }: Pick<CollectionQuery, 'fields'>): boolean {
  return fields?.some((field) => field === 'args' || field === 'result') ?? true;
}
