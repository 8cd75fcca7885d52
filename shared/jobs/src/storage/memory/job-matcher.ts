import { isDeepStrictEqual } from 'node:util';
import { firstIdOf } from '../../job/id.js';
import type { JsonValue } from '../../job/job.js';
import type { JobFilter } from '../job-filter.js';
import type { JobRecord } from './job-record.js';

/** Says of a job whether it matches. */
export function matcherOf(filter: JobFilter): (record: JobRecord) => boolean {
  const from = filter.createdAfter && firstIdOf(filter.createdAfter);
  const to = filter.createdBefore && firstIdOf(filter.createdBefore);
  return (record) =>
    admits(filter.id?.map(lower), [record.id]) &&
    admits(filter.state, [record.state]) &&
    admits(filter.queue, [record.queue]) &&
    admits(filter.name, [record.name]) &&
    admits(filter.tag, record.meta?.tags) &&
    admits(filter.recurringJobId, [record.meta?.recurringJobId]) &&
    admits(filter.batchId?.map(lower), [record.meta?.batchId]) &&
    admits(filter.parentId?.map(lower), record.meta?.parentIds) &&
    admits(filter.serverId?.map(lower), [record.serverId]) &&
    within(record.id, from, to) &&
    finishedWithin(record.finishedAt, filter) &&
    argumentsMatch(record, filter);
}

function admits(allowed: readonly unknown[] | undefined, values: readonly unknown[] = []): boolean {
  return allowed === undefined || allowed.length === 0 || allowed.some((value) => values.includes(value));
}

function within<Value extends string | Date>(
  value: Value,
  from: Value | undefined,
  to: Value | undefined,
): boolean {
  return (from === undefined || value >= from) && (to === undefined || value < to);
}

function lower(text: string): string {
  return text.toLowerCase();
}

function finishedWithin(
  finishedAt: Date | null,
  { finishedAfter: from, finishedBefore: to }: JobFilter,
): boolean {
  if (from === undefined && to === undefined) return true;
  return finishedAt !== null && within(finishedAt, from, to);
}

function argumentsMatch(record: JobRecord, { args: wanted = [] }: JobFilter): boolean {
  const given = wanted.filter(({ values }) => values.length > 0);
  if (given.length === 0) return true;
  const args = JSON.parse(record.args) as JsonValue;
  return given.every(({ path, values }) => {
    const found = path.reduce(memberOf, args);
    return values.some((value) => isDeepStrictEqual(found, value));
  });
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
