import type { JobState } from '@longshore/jobs';
import {
  type ArgsFilter,
  checkFilter,
  firstIdOf,
  isFinished,
  isId,
  type JobFilter,
  type JobMeta,
  jobStates,
} from '@longshore/jobs/storage';
import { fold, jsonEscapes, type Spelling, wordPattern, wordsOf } from '@longshore/edge';

export type Bind = (value: unknown) => string;

/** The SQL conditions of a filter, without the conditions on states and queues. */
export interface JobConditions {
  /** Conditions that select jobs by id. Only history has an index on the id alone. */
  readonly chosen: readonly string[];
  /** Conditions that limit the range of ids. */
  readonly ids: readonly string[];
  readonly rows: readonly string[];
  /** Returns the conditions on the latest error, given its SQL expression. */
  readonly error: (error: string) => readonly string[];
  /** Conditions on the server. Only jobs that have been claimed have a server. */
  readonly claimed: readonly string[];
  readonly finished: readonly string[];
}

/**
 * Converts a filter to SQL conditions.
 *
 * @param bind adds a parameter to the query and returns its placeholder, such as `$3`
 */
export function conditionsOf(filter: JobFilter, bind: Bind): JobConditions {
  checkFilter(filter);
  const { createdAfter, createdBefore, startedBefore } = filter;
  const ids: string[] = [];
  if (createdAfter !== undefined) ids.push(`id >= ${bind(firstIdOf(createdAfter))}::uuid`);
  if (createdBefore !== undefined) ids.push(`id < ${bind(firstIdOf(createdBefore))}::uuid`);
  // A job starts after its creation, so only a part of the ids can match.
  if (startedBefore !== undefined)
    ids.push(`id < ${bind(firstIdOf(new Date(startedBefore.getTime() + maxAheadMs)))}::uuid`);
  const chosen = isNonEmpty(filter.id) ? [`id = any(${bind(filter.id.filter(isId))}::uuid[])`] : [];
  const rows: string[] = [];
  if (isNonEmpty(filter.name)) rows.push(oneOf('name', filter.name, 'text', bind));
  for (const { path, values } of filter.args ?? []) {
    if (isNonEmpty(values)) rows.push(...argsConditions(path, values, filter, bind));
  }
  rows.push(...metaConditions(filter, bind));
  if (isNonEmpty(filter.priority)) rows.push(oneOf('priority', filter.priority, 'bigint', bind));
  rows.push(...timesWithin('run_at', filter.dueAfter, filter.dueBefore, bind));
  const claimed = isNonEmpty(filter.serverId)
    ? [`server_id = any(${bind(filter.serverId.filter(isId))}::uuid[])`]
    : [];
  claimed.push(...timesWithin('started_at', filter.startedAfter, startedBefore, bind));
  const finished = timesWithin('finished_at', filter.finishedAfter, filter.finishedBefore, bind);
  return { chosen, ids, rows, claimed, finished, error: (error) => errorConditions(filter, error, bind) };
}

/** How far the time in a job's id can be ahead of the database's clock, in milliseconds. */
const maxAheadMs = 3_600_000;

function timesWithin(column: string, from: Date | undefined, to: Date | undefined, bind: Bind): string[] {
  return [
    ...(from === undefined ? [] : [`${column} >= ${bind(from)}::timestamptz`]),
    ...(to === undefined ? [] : [`${column} < ${bind(to)}::timestamptz`]),
  ];
}

/**
 * Returns the condition that a column has one of the values. Compares a single value with `=`, because an index can
 * then return rows in order.
 */
export function oneOf(column: string, values: readonly unknown[], type: string, bind: Bind): string {
  return values.length === 1
    ? `${column} = ${bind(values[0])}::${type}`
    : `${column} = any(${bind(values)}::${type}[])`;
}

/**
 * Limits on a containment condition: the number of values, and the number of numeric steps in the path. Each numeric
 * step doubles the length of the condition. Beyond a limit, the condition is left out.
 */
const maxValues = 20;
const maxNumbers = 3;

/**
 * Returns a condition that compares the value at the path. Within the limits above, also returns a containment
 * condition, which an index supports.
 */
function argsConditions(
  path: ArgsFilter['path'],
  values: ArgsFilter['values'],
  { redact }: JobFilter,
  bind: Bind,
): string[] {
  const texts = values.map((value) => JSON.stringify(value));
  const [at, any] = [`${bind(path)}::text[]`, `any(${bind(texts)}::jsonb[])`];
  const equal = unlessRedacted(redact, bind, (args) => `${args} #> ${at} = ${any}`);
  if (values.length > maxValues || path.filter(isNumber).length > maxNumbers) return [equal];
  const containing = texts
    .flatMap((text) => containers(path, text))
    .map((document) => `args @> ${bind(document)}::jsonb`);
  return [equal, `(${containing.join(' or ')})`];
}

/**
 * Returns JSON documents that consist of just the value at the path. There are several if the path contains a number,
 * because a number can be an array index or a member name.
 */
function containers(path: readonly string[], value: string): string[] {
  const [key, ...rest] = path;
  if (key === undefined) return [value];
  return containers(rest, value).flatMap((inner) => [
    `{${JSON.stringify(key)}:${inner}}`,
    ...(isNumber(key) ? [`[${inner}]`] : []),
  ]);
}

function isNumber(key: string): boolean {
  return /^\d+$/.test(key);
}

/**
 * Returns the conditions on members of `meta`. Uses one `@>` per value, because the index does not support `any`. `@>`
 * also implies that `meta` is not null, as the partial index requires.
 */
function metaConditions(filter: JobFilter, bind: Bind): string[] {
  const members: (JobMeta[] | undefined)[] = [
    filter.tag?.map((tag) => ({ tags: [tag] })),
    filter.recurringJobId?.map((recurringJobId) => ({ recurringJobId })),
    filter.batchId?.map((id) => ({ batchId: id.toLowerCase() })),
    filter.parentId?.map((id) => ({ parentIds: [id.toLowerCase()] })),
    filter.enqueuedBy?.map((id) => ({ enqueuedBy: id.toLowerCase() })),
    filter.concurrencyKey?.map((concurrencyKey) => ({ concurrencyKey })),
    filter.correlate?.map((correlate) => ({ correlate })),
  ];
  const conditions = members.flatMap((metas) => {
    if (!isNonEmpty(metas)) return [];
    const any = metas.map((meta) => `meta @> ${bind(JSON.stringify(meta))}::jsonb`);
    return `(${any.join(' or ')})`;
  });
  if (isNonEmpty(filter.awaits)) conditions.push(`meta -> 'awaits' ?| ${bind(filter.awaits)}::text[]`);
  return conditions;
}

function errorConditions(
  { error: texts, errorFingerprint, q, redact }: JobFilter,
  error: string,
  bind: Bind,
): string[] {
  const message = messageOf(error);
  const conditions: string[] = [];
  const exact = (text: string): Spelling => ({ text: fold(text), typos: 0 });
  if (isNonEmpty(texts)) conditions.push(occursIn(message, texts.map(exact), bind));
  if (isNonEmpty(errorFingerprint))
    conditions.push(`${fingerprintOfError(error)} = any(${bind(errorFingerprint)}::text[])`);
  for (const word of wordsOf(q)) {
    const pattern = patternOf([exact(word)], bind);
    const queues = `select searched.id from longshore.queue as searched where ${matches('searched.name', pattern)}`;
    const text = unlessRedacted(redact, bind, (args) => matches(searchedText('', error, { args }), pattern));
    conditions.push(`(${text} or queue_id in (${queues}))`);
  }
  return conditions;
}

/**
 * Returns a condition on arguments without their redacted values. Postgres removes these values only if the condition
 * holds with them, because that takes long.
 *
 * @param condition returns the condition, given an SQL expression for the arguments
 */
function unlessRedacted(redact: string | undefined, bind: Bind, condition: (args: string) => string): string {
  if (redact === undefined) return condition('args');
  return `case when ${condition('args')} then ${condition(searchedArgs('args', redact, bind))} else false end`;
}

/** Returns an SQL expression for the arguments that are searched. */
export function searchedArgs(args: string, redact: string | undefined, bind: Bind): string {
  if (redact === undefined) return args;
  const inJson = anywhereInJson(redact);
  const text = `${args}::text collate "und-x-icu"`;
  const matching = (json: string): string => `${json} ~* ${bind(inJson)}::text`;
  const hasKey =
    inJson === undefined
      ? 'true'
      : `(${matching(text)} or (${text} ~ '[a-z0-9][A-Z]|[A-Z][A-Z][a-z]' and ${matching(hyphenated(text))}))`;
  return `case when ${hasKey} then longshore.redacted(${args}, ${bind(redact)}::text) else ${args} end`;
}

const hyphenated = (text: string): string =>
  `regexp_replace(${text}, '([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])', '\\1\\2-', 'g')`;

/**
 * Returns a regular expression that matches the text of every JSON document with a key that `pattern` matches, and of some
 * others: in JSON, quotes stand around a key. Redacting a document takes thirty times as long as this check. Undefined if the
 * pattern could match quotes, backslashes or control characters, which JSON escapes.
 */
export function anywhereInJson(pattern: string): string | undefined {
  const parts = pattern.match(/\\.|\[(?:\\.|[^\]])*\]|[\s\S]/g) ?? [];
  if (parts.some(mayMatchEscaped)) return undefined;
  return parts.map((part) => (part === '^' ? '(^|")' : part === '$' ? '($|")' : part)).join('');
}

/** Returns whether a part of a pattern is a wildcard, a class with more than letters, digits, `-`, `_` and space, or escaped in JSON. */
function mayMatchEscaped(part: string): boolean {
  if (part.startsWith('[')) return !/^\[-?(?:[A-Za-z]-[A-Za-z]|\d-\d|[\w ]|\\d|\\w)*-?\]$/.test(part);
  return part === '.' || /^\\[s\\]$|^[\p{Cc}"]$/u.test(part);
}

/** Returns an SQL expression for an error's name and message, such as `TypeError: No ship`. */
export function messageOf(error: string): string {
  return `((${error} ->> 'name') || ': ' || (${error} ->> 'message'))`;
}

/**
 * Returns an SQL expression for all texts of a job that are searched for words.
 *
 * @param parts SQL expressions: `args` for the arguments, by default all of them, and `more` for further texts, such as
 *   the name of the queue
 */
export function searchedText(
  table: '' | 'candidate.',
  error: string,
  { args = `${table}args`, more = [] }: { readonly args?: string; readonly more?: readonly string[] } = {},
): string {
  const meta = ['recurringJobId', 'idempotencyKey'].map((member) => `${table}meta ->> '${member}'`);
  const plain = [`${table}name`, ...more, ...meta, messageOf(error)].join(', ');
  const json = `concat_ws(E'\\n', ${table}meta ->> 'tags', ${args})`;
  return `(select concat_ws(E'\\n', ${plain}, ${withoutEscapes}) from (select ${json} offset 0) as json (text))`;
}

/** The SQL equivalent of `jsonWords` for the JSON in `json.text`. Most JSON has no escapes to remove. */
const withoutEscapes = `case when strpos(json.text, E'\\\\') = 0 then json.text else ${jsonEscapes.reduce(
  (text, [escape, character]) => `replace(${text}, ${quoted(escape)}, ${quoted(character)})`,
  'json.text',
)} end`;

function quoted(text: string): string {
  const hex = (character: string): string => `\\x${character.charCodeAt(0).toString(16).padStart(2, '0')}`;
  const escaped = Array.from(text, (character) =>
    character < ' ' || `'\\`.includes(character) ? hex(character) : character,
  );
  return `E'${escaped.join('')}'`;
}

/**
 * Returns the condition that a text contains one of the spellings of a word, in any case. The pattern lists the characters
 * that fold to those of the word, because what `lower` and `ilike` do depends on the database's locale and version. It
 * takes no longer than `lower` and `like`.
 */
export function occursIn(text: string, spellings: readonly Spelling[], bind: Bind): string {
  return matches(text, patternOf(spellings, bind));
}

function patternOf(spellings: readonly Spelling[], bind: Bind): string {
  return `${bind(`(?:${spellings.map((spelling) => wordPattern(spelling.text)).join('|')})`)}::text`;
}

function matches(text: string, pattern: string): string {
  return `${text} collate "C" ~ ${pattern}`;
}

/** Returns the states that a job matching the filter can have. */
export function statesOf(filter: JobFilter): readonly JobState[] {
  const states = isNonEmpty(filter.state) ? [...new Set(filter.state)] : jobStates;
  const finished = filter.finishedAfter !== undefined || filter.finishedBefore !== undefined;
  const failed = isNonEmpty(filter.error) || isNonEmpty(filter.errorFingerprint);
  const claimed =
    isNonEmpty(filter.serverId) || filter.startedAfter !== undefined || filter.startedBefore !== undefined;
  const suspended = isNonEmpty(filter.awaits);
  return states.filter(
    (state) =>
      (!suspended || state === 'scheduled') &&
      (isFinished(state) || (!finished && (state === 'processing' || !claimed))) &&
      !(failed && state === 'done'),
  );
}

/** Returns whether the filter selects jobs only by state and queue, so that the counters can answer it. */
export function isCounted({ redact: _redact, ...filter }: JobFilter): boolean {
  return Object.entries(filter).every(
    ([member, value]: [string, unknown]) =>
      member === 'state' || member === 'queue' || (Array.isArray(value) ? value.length === 0 : value === ''),
  );
}

/**
 * Returns whether the filter has a condition on metadata or arguments. The GIN indexes for these conditions return rows
 * in no particular order.
 */
export function isContained(filter: JobFilter): boolean {
  const { tag, recurringJobId, batchId, parentId, enqueuedBy, concurrencyKey, correlate, args = [] } = filter;
  return (
    [tag, recurringJobId, batchId, parentId, enqueuedBy, concurrencyKey, correlate].some(isNonEmpty) ||
    args.some(({ values }) => isNonEmpty(values))
  );
}

export function isNonEmpty<Value>(values: readonly Value[] | undefined): values is readonly Value[] {
  return values !== undefined && values.length > 0;
}

/** Returns the SQL equivalent of `errorFingerprint` for an SQL expression of an error. */
export const fingerprintOfError = (error: string): string => `longshore.error_fingerprint(${error})`;
