import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { firstIdOf } from '../job/id.js';
import { errorFingerprint } from '../job/error-fingerprint.js';
import { isExactNumber } from '../job/exact-number.js';
import type { JobError, JsonText, JsonValue } from '../job/job.js';
import { redactedText } from '../job/redaction.js';
import { checkFilter, type JobFilter } from '../storage/job-filter.js';
import { fold, jsonWords, maxErrorText, wordPattern, wordsOf } from '@longshore/edge';
import type { JobRecord } from './job-record.js';

export function matcherOf(filter: JobFilter): (record: JobRecord) => boolean {
  checkFilter(filter);
  const words = wordsOf(filter.q).map(patternOf);
  const errors = filter.error?.map(patternOf);
  const from = filter.createdAfter && firstIdOf(filter.createdAfter);
  const to = filter.createdBefore && firstIdOf(filter.createdBefore);
  return (record) =>
    isWanted(record, filter) &&
    includesAny(filter.queue, [record.queue]) &&
    includesAny(filter.name, [record.name]) &&
    metaMatches(record, filter) &&
    waitsFor(record, filter) &&
    includesAny(filter.serverId?.map(lower), [record.serverId]) &&
    within(record.id, from, to) &&
    timeWithin(record.finishedAt, filter.finishedAfter, filter.finishedBefore) &&
    timeWithin(record.startedAt, filter.startedAfter, filter.startedBefore) &&
    timeWithin(record.runAt, filter.dueAfter, filter.dueBefore) &&
    includesAny(filter.priority, [record.priority]) &&
    argumentsMatch(record, filter) &&
    errorMatches(record, errors, filter) &&
    (words.length === 0 || matchesAll(words, searchedText(record, searchedArgs(record, filter))));
}

function matchesAll(words: readonly RegExp[], text: string): boolean {
  return words.every((word) => word.test(text));
}

/** Returns a pattern that finds a text in any case. */
function patternOf(text: string): RegExp {
  return new RegExp(wordPattern(fold(text)), 'u');
}

function waitsFor({ state, meta }: JobRecord, filter: JobFilter): boolean {
  const awaits = state === 'scheduled' ? Object.keys(meta?.awaits ?? {}) : [];
  return includesAny(filter.correlate, [meta?.correlate]) && includesAny(filter.awaits, awaits);
}

function metaMatches({ meta }: JobRecord, filter: JobFilter): boolean {
  return (
    includesAny(filter.tag, meta?.tags) &&
    includesAny(filter.recurringJobId, [meta?.recurringJobId]) &&
    includesAny(filter.batchId?.map(lower), [meta?.batchId]) &&
    includesAny(filter.concurrencyKey, [meta?.concurrencyKey]) &&
    includesAny(filter.parentId?.map(lower), meta?.parentIds) &&
    includesAny(filter.enqueuedBy?.map(lower), [meta?.enqueuedBy])
  );
}

function isWanted({ id, state }: JobRecord, filter: JobFilter): boolean {
  return includesAny(filter.id?.map(lower), [id]) && includesAny(filter.state, [state]);
}

function includesAny(allowed: readonly unknown[] | undefined, values: readonly unknown[] = []): boolean {
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

function timeWithin(time: Date | null, from: Date | undefined, to: Date | undefined): boolean {
  if (from === undefined && to === undefined) return true;
  return time !== null && within(time, from, to);
}

function argumentsMatch(record: JobRecord, filter: JobFilter): boolean {
  const conditions = (filter.args ?? []).filter(({ values }) => values.length > 0);
  if (conditions.length === 0) return true;
  const args = parseComparably(searchedArgs(record, filter));
  return conditions.every(({ path, values }) => {
    const found = path.reduce(memberOf, args);
    return values.some((value) => isDeepStrictEqual(found, value));
  });
}

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi;

/**
 * Parses JSON for comparing values. If JavaScript would round a number, replaces the number with a unique object, which
 * equals no other value.
 */
function parseComparably(text: JsonText): JsonValue {
  const marked = text.replaceAll(stringOrNumber, (literal) =>
    literal.startsWith('"') || isExactNumber(literal) ? literal : `{"${randomUUID()}":null}`,
  );
  return JSON.parse(marked) as JsonValue;
}

function errorMatches(
  { error }: JobRecord,
  texts: readonly RegExp[] = [],
  { errorFingerprint: kinds = [] }: JobFilter,
): boolean {
  if (texts.length === 0 && kinds.length === 0) return true;
  if (error === null) return false;
  const message = messageOf(error);
  return (
    (texts.length === 0 || texts.some((text) => text.test(message))) &&
    (kinds.length === 0 || kinds.includes(errorFingerprint(error)))
  );
}

function messageOf({ name, message }: JobError): string {
  return `${name}: ${message}`;
}

/** Returns the arguments that a filter searches: without the values that it redacts. */
export function searchedArgs({ args }: JobRecord, { redact }: JobFilter): JsonText {
  return redact === undefined ? args : redactedText(args, redact);
}

/**
 * Returns the text that is searched for words: the job's name, queue, tags, recurring job, idempotency key, error and
 * arguments.
 *
 * @param args the arguments to search; by default, all of them
 */
export function searchedText(record: JobRecord, args: JsonText = record.args): string {
  const { name, queue, meta, error } = record;
  const message = error === null ? '' : messageOf(error);
  const json = jsonWords(`${JSON.stringify(meta?.tags ?? [])}\n${args}`);
  return [name, queue, meta?.recurringJobId ?? '', meta?.idempotencyKey ?? '', message, json].join('\n');
}

/**
 * Returns the texts in which to look for words similar to a misspelled search word: the job's name, queue, tags and
 * recurring job, and the start of its error.
 */
export function searchedTexts(record: JobRecord): string[] {
  const { name, queue, meta, error } = record;
  const names = [name, queue, ...(meta?.tags ?? []), meta?.recurringJobId ?? ''];
  return [...names, ...(error === null ? [] : [messageOf(error).slice(0, maxErrorText)])];
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
