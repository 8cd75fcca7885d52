import type { JobState, JsonValue } from '@longshore/jobs';
import { type ArgsFilter, clamp, type JobFilter, timeBounds } from '@longshore/jobs/storage';
import type { CollectionQuery, Filter, Selection } from '@longshore/resources';

/** By what jobs are found, as the query says it. */
export const jobFilters = {
  state: 'exact',
  queue: 'exact',
  name: 'exact',
  tag: { field: 'tags', match: 'exact' },
  recurringJobId: 'exact',
  batchId: 'exact',
  parentId: 'exact',
  serverId: 'exact',
  createdAfter: {
    field: 'createdAt',
    match: 'from',
    description: 'Jobs enqueued at this time or later, by the clock of the enqueuer, which the id holds.',
  },
  createdBefore: {
    field: 'createdAt',
    match: 'to',
    description: 'Jobs enqueued at this time or earlier, by the clock of the enqueuer, which the id holds.',
  },
  finishedAfter: { field: 'finishedAt', match: 'from' },
  finishedBefore: { field: 'finishedAt', match: 'to' },
  error: {
    field: 'error',
    match: 'partial',
    description: 'Jobs whose latest error, `TypeError: No ship`, contains this text, whatever the case.',
  },
  args: 'path',
} as const;

/**
 * The filter as storages know it; `null` if no job can match. A place such as `/queues/mail/jobs` demands a field's value
 * besides what the query says of it.
 */
export function toJobFilter({ filters, search }: Selection): JobFilter | null {
  const result: { -readonly [Member in keyof JobFilter]: JobFilter[Member] } = {};
  const args: ArgsFilter[] = [];
  for (const { parameter, match, path, values } of filters) {
    const texts = values.map(String);
    if (match === 'path') args.push({ path, values: texts.flatMap(meanings) });
    else if (parameter === 'error') result.error = texts;
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

const textual = ['queue', 'name', 'tag', 'recurringJobId', 'batchId', 'parentId', 'serverId'] as const;
const bounds = ['createdAfter', 'createdBefore', 'finishedAfter', 'finishedBefore'] as const;

function isTextual(parameter: string): parameter is (typeof textual)[number] {
  return (textual as readonly string[]).includes(parameter);
}

function isBound(parameter: string): parameter is (typeof bounds)[number] {
  return (bounds as readonly string[]).includes(parameter);
}

/** The API's bounds are inclusive and its times have milliseconds; a storage's upper bound is the first time that is too late. Times that no job can have count as the nearest that one can. */
function boundOf(time: string, match: Filter['match']): Date {
  return new Date(clamp(Date.parse(time) + (match === 'to' ? 1 : 0), timeBounds));
}

/** A query has only text: `7` may be the number or the string. */
function meanings(text: string): JsonValue[] {
  const isLiteral = /^(?:true|false|null|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/.test(text);
  return isLiteral ? [text, JSON.parse(text) as JsonValue] : [text];
}

/** Whether an answer shows what jobs were given or returned. */
export function asksForDocuments({ fields }: Pick<CollectionQuery, 'fields'>): boolean {
  return fields?.some((field) => field === 'args' || field === 'result') ?? true;
}
