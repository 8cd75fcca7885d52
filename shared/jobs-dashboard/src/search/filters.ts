import { parseInteger } from '@longshore/edge';
import type { JobState, JsonValue } from '@longshore/jobs';
import {
  type ArgsFilter,
  type BriefJob,
  bounds,
  type BulkAction,
  isExactNumber,
  isRedacted,
  type JobFilter,
  jobStates,
} from '@longshore/jobs/storage';
import { badRequest } from '../http/problem.js';
import { momentOf } from './moment.js';

/** A search condition on jobs, other than a condition on their state. */
export interface Term {
  readonly key: TermKey;
  readonly value: string;
}

/**
 * The keys of search terms, apart from argument keys. An argument key consists of `args.` and a path of member names
 * and array indexes, separated by dots.
 */
export const plainKeys = [
  'queue',
  'name',
  'tag',
  'recurring',
  'batch',
  'key',
  'parent',
  'enqueuer',
  'awaits',
  'correlate',
  'server',
  'error',
  'fingerprint',
  'after',
  'before',
  'finished-after',
  'finished-before',
  'started-after',
  'started-before',
  'due-after',
  'due-before',
  'priority',
  'q',
] as const;

export type TermKey = (typeof plainKeys)[number] | `args.${string}`;

/** A property of jobs by which they are grouped, or a path in their arguments. */
export interface Dimension {
  readonly key: string;
  readonly word: string;
  /** Returns the values of a job. The job is counted once for each distinct value. */
  readonly valuesOf: (job: BriefJob) => readonly string[];
  readonly termOf: (value: string) => Term;
}

/**
 * The filters of the jobs page, as given in its URL. Terms with the same key are alternatives; a job must match one of
 * them. However, a job must match every search word (`q`). If a key for times occurs several times, only the last value
 * counts.
 */
export interface Filters {
  readonly state: JobState | null;
  readonly terms: readonly Term[];
}

export const noFilters: Filters = { state: null, terms: [] };

/**
 * URL parameters for terms whose keys clash with other parameters. All other parameters have the same name as the key.
 */
const parameters: Readonly<Record<string, string>> = { after: 'since', before: 'until', q: 'words' };
const keys: Readonly<Record<string, TermKey>> = { since: 'after', until: 'before', words: 'q' };

export function isJobState(text: string): text is JobState {
  return (jobStates as readonly string[]).includes(text);
}

export function isTermKey(text: string): text is TermKey {
  return (plainKeys as readonly string[]).includes(text) || /^args(\.[^.]+)+$/s.test(text);
}

/** Returns an error message if the term is invalid; `null` otherwise. */
export function termError({ key, value }: Term): string | null {
  if (value === '') return `“${key}:” needs a value.`;
  if (isTimeKey(key) && momentOf(value, 0) === null) {
    return `“${value}” is not a valid time. Write 2026-03-01, 2026-03-01T14:05Z, or 2h for two hours ago.`;
  }
  if (key === 'priority' && priorityOf(value) === undefined)
    return `“${value}” is not a priority. Write a whole number from ${bounds.priority.min} to ${bounds.priority.max}.`;
  return null;
}

/**
 * Maps a term's key to the dashboard section that has a page for each value. For example, a `name` term links to a page
 * under `types`.
 */
const pages: Readonly<Partial<Record<TermKey, string>>> = {
  queue: 'queues',
  name: 'types',
  recurring: 'recurring',
  batch: 'batches',
  parent: 'jobs',
  enqueuer: 'jobs',
  server: 'servers',
};

/** Returns the path of the page about a term's value, such as a queue; `null` if there is no such page. */
export function pageOfTerm({ key, value }: Term): string | null {
  const page = pages[key];
  return page === undefined ? null : `${page}/${encodeURIComponent(value)}`;
}

/** What the meaning of filters depends on. */
export interface Reading {
  /** The time that relative times such as “2h” count back from, in milliseconds since 1970. */
  readonly nowMs: number;
  /** Matches keys in arguments whose values are redacted. Such values cannot be searched. */
  readonly redact: RegExp;
}

/** Converts filters to a storage filter, which does not see redacted values. */
export function filterQuery({ state, terms }: Filters, { nowMs, redact }: Reading): JobFilter {
  const values = (key: TermKey): string[] =>
    terms.filter((term) => term.key === key).map(({ value }) => value);
  const list = (member: keyof JobFilter, key: TermKey): JobFilter => {
    const alternatives = values(key);
    return alternatives.length === 0 ? {} : { [member]: alternatives };
  };
  const time = (member: keyof JobFilter, key: TermKey): JobFilter => {
    const moment = momentOf(values(key).at(-1) ?? '', nowMs);
    return moment === null ? {} : { [member]: moment };
  };
  const args = argsFilters(terms);
  const q = values('q').join(' ');
  const priority = values('priority').flatMap((value) => priorityOf(value) ?? []);
  return {
    ...(state === null ? {} : { state: [state] }),
    ...list('queue', 'queue'),
    ...list('name', 'name'),
    ...list('tag', 'tag'),
    ...list('recurringJobId', 'recurring'),
    ...list('batchId', 'batch'),
    ...list('concurrencyKey', 'key'),
    ...list('parentId', 'parent'),
    ...list('enqueuedBy', 'enqueuer'),
    ...list('awaits', 'awaits'),
    ...list('correlate', 'correlate'),
    ...list('serverId', 'server'),
    ...list('error', 'error'),
    ...list('errorFingerprint', 'fingerprint'),
    ...time('createdAfter', 'after'),
    ...time('createdBefore', 'before'),
    ...time('finishedAfter', 'finished-after'),
    ...time('finishedBefore', 'finished-before'),
    ...time('startedAfter', 'started-after'),
    ...time('startedBefore', 'started-before'),
    ...time('dueAfter', 'due-after'),
    ...time('dueBefore', 'due-before'),
    ...(priority.length === 0 ? {} : { priority }),
    ...(args.length === 0 ? {} : { args }),
    ...(q === '' ? {} : { q }),
    ...(args.length === 0 && q === '' ? {} : { redact: redact.source }),
  };
}

/** Replaces relative times with absolute ones, so that the filters will match the same jobs later. */
export function pinned({ state, terms }: Filters, nowMs: number): Filters {
  const pin = ({ key, value }: Term): Term => {
    const moment = isTimeKey(key) ? momentOf(value, nowMs) : null;
    return { key, value: moment === null ? value : moment.toISOString() };
  };
  return { state, terms: terms.map(pin) };
}

/** Returns the filters as name–value pairs, for a URL query or for form fields. */
export function parametersOf({ state, terms }: Filters): [name: string, value: string][] {
  return [
    ...(state === null ? [] : [['state', state] satisfies [string, string]]),
    ...terms.map(({ key, value }): [string, string] => [parameters[key] ?? key, value]),
  ];
}

/**
 * Returns the path of the list of matching jobs, relative to the dashboard.
 *
 * @param more further parameters, for example for paging and the sort order
 */
export function jobsPath(filters: Filters, more: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams([...parametersOf(filters), ...Object.entries(more)]).toString();
  return text === '' ? 'jobs' : `jobs?${text}`;
}

/** Returns the path of the confirmation page for a bulk action on the matching jobs. */
export function confirmPath(filters: Filters, action: BulkAction): string {
  return jobsPath(filters, { action }).replace(/^jobs/, 'bulk/confirm');
}

/** Parses filters from name–value pairs of a URL query or of form fields. Ignores other names and empty values. */
export function filtersIn(query: Iterable<[string, string]>): { state: string | null; terms: Term[] } {
  let state: string | null = null;
  const terms: Term[] = [];
  for (const [parameter, value] of query) {
    const key = keys[parameter] ?? parameter;
    if (value === '') continue;
    if (parameter === 'state') state = value;
    else if (parameters[parameter] === undefined && isTermKey(key)) terms.push({ key, value });
  }
  return { state, terms };
}

function priorityOf(text: string): number | undefined {
  const priority = parseInteger(text);
  const { min, max } = bounds.priority;
  return priority !== undefined && priority >= min && priority <= max ? priority : undefined;
}

/** Returns whether the values of terms with this key are times. */
export function isTimeKey(key: TermKey): boolean {
  return /^(.*-)?(after|before)$/.test(key) && !key.startsWith('args.');
}

function argsFilters(terms: readonly Term[]): ArgsFilter[] {
  const values = new Map<string, JsonValue[]>();
  for (const { key, value } of terms) {
    if (!key.startsWith('args.')) continue;
    const list = values.get(key) ?? [];
    values.set(key, list);
    for (const meaning of meaningsOf(value)) list.push(meaning);
  }
  return Array.from(values, ([key, meant]) => ({ path: key.split('.').slice(1), values: meant }));
}

/**
 * Returns the JSON values that a term's text can stand for. For example, `77` can be a number or a string. A number
 * that JavaScript would round is searched for only as a string.
 */
function meaningsOf(text: string): JsonValue[] {
  const isNumber = /^-?(0|[1-9]\d*)(\.\d+)?(e[+-]?\d+)?$/i.test(text) && isExactNumber(text);
  return isNumber || /^(true|false|null)$/i.test(text)
    ? [text, JSON.parse(text.toLowerCase()) as JsonValue]
    : [text];
}

/**
 * Returns the path of the job list for a saved search. Ignores parameters that are not filters, because other programs
 * can save searches, too.
 */
export function savedPath(query: string): string {
  const { state, terms } = filtersIn(new URLSearchParams(query));
  return jobsPath({ state: state !== null && isJobState(state) ? state : null, terms });
}

/**
 * Parses the filters of the jobs page from its URL.
 *
 * @param redact matches argument keys whose values are redacted and cannot be searched
 * @throws {Problem} if a filter is invalid
 */
export function queryFilters(query: URLSearchParams, redact: RegExp): Filters {
  const { state, terms } = filtersIn(query);
  if (state !== null && !isJobState(state)) {
    throw badRequest(
      'There is no such state',
      `“${state}” is not a state. The states are ${jobStates.join(', ')}.`,
    );
  }
  const invalid = terms.map(termError).find((message) => message !== null) ?? hiddenTermError(terms, redact);
  if (invalid !== null) throw badRequest('Invalid filter', invalid);
  return { state, terms };
}

/**
 * Returns an error message if a term searches redacted values; `null` otherwise. Such a search could be used to guess
 * the values.
 */
export function hiddenTermError(terms: readonly Term[], redact: RegExp): string | null {
  const hidden = terms.find(
    ({ key }) =>
      key.startsWith('args.') &&
      key
        .split('.')
        .slice(1)
        .some((segment) => isRedacted(segment, redact)),
  );
  return hidden === undefined ? null : `“${hidden.key}:” cannot be searched: its values are redacted.`;
}

/** Parses filters that were stored as JSON; `null` if the value does not contain filters. */
export function storedFilters(stored: JsonValue): Filters | null {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return null;
  const { state = null, terms } = stored;
  if (!Array.isArray(terms)) return null;
  return {
    state: typeof state === 'string' && isJobState(state) ? state : null,
    terms: terms.flatMap(storedTerm),
  };
}

function storedTerm(stored: JsonValue): Term[] {
  if (stored === null || typeof stored !== 'object' || Array.isArray(stored)) return [];
  const { key, value } = stored;
  return typeof key === 'string' && typeof value === 'string' && isTermKey(key) ? [{ key, value }] : [];
}
