import type { JobFilter } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import {
  type Filters,
  isJobState,
  isTermKey,
  isTimeKey,
  noFilters,
  plainKeys,
  type Term,
  termError,
  type TermKey,
} from './filters.js';
import { withOffset } from './moment.js';

/** The meaning of the text in the search box: an id, filters, or an error message. */
type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'filters'; readonly filters: Filters }
  | { readonly kind: 'misunderstood'; readonly why: string };

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;
/** Matches a word, or a phrase in double quotes. Quotes within a phrase are doubled. */
const value = String.raw`(?:"((?:[^"]|"")*)"|(\S+))`;
const keyNames = String.raw`state|${plainKeys.join('|')}|args(?:\.[^:\s"]*)?`;
/** Matches a term with a key. An id in such a term does not open a page. */
const keyedTerm = new RegExp(String.raw`(?<!\S)(?:${keyNames}):${value}`, 'gi');
const term = new RegExp(String.raw`(?:(id|${keyNames}):)?${value}?`, 'gi');

/**
 * Parses terms such as `queue:mail`, `tag:"two words"`, `args.customer.id:77` and `after:2h`. Words without a key are
 * searched for in all texts. If the text contains an id outside of terms with a key, for example in a pasted URL or log
 * line, returns only the id.
 *
 * @param zone the time zone of times without an offset; they get the offset
 */
export function parseSearch(text: string, zone = 'UTC'): Search {
  let filters = noFilters;
  const pasted = uuid.exec(text.replaceAll(keyedTerm, ' '))?.[0];
  if (pasted !== undefined) return { kind: 'id', id: pasted.toLowerCase() };
  for (const [whole, key = 'q', inQuotes = '', word] of text.matchAll(term)) {
    if (whole === '') continue;
    const next = add(filters, key, word ?? inQuotes.replaceAll('""', '"'), zone);
    if (typeof next === 'string') return { kind: 'misunderstood', why: next };
    filters = next;
  }
  return { kind: 'filters', filters };
}

/** Formats filters as text that {@link parseSearch} accepts. Omits the state, because the page shows it separately. */
export function searchText({ terms }: Filters): string {
  return terms
    .map((condition) =>
      isPlainWord(condition) ? condition.value : `${condition.key}:${quoted(condition.value)}`,
    )
    .join(' ');
}

function add(filters: Filters, written: string, value: string, zone: string): Filters | string {
  // Lowercases the key. The member names in an `args` path are case-sensitive and stay unchanged.
  const key = /^args/i.test(written) ? `args${written.slice(4)}` : written.toLowerCase();
  if (value === '') return `“${key}:” needs a value.`;
  if (key === 'state') {
    const state = value.toLowerCase();
    return isJobState(state) ? { ...filters, state } : `There is no state “${value}”.`;
  }
  if (key === 'id') return `“${value}” is not the id of a job, which is a UUID.`;
  if (!isTermKey(key)) {
    return `“${key}:” cannot be searched for. Use id:, ${plainKeys.map((name) => `${name}:`).join(', ')}, state: or args.path:.`;
  }
  const found = { key, value: isTimeKey(key) ? withOffset(value, zone) : value };
  return termError(found) ?? { ...filters, terms: [...filters.terms, found] };
}

function isPlainWord({ key, value }: Term): boolean {
  return key === 'q' && !/[\s":]/.test(value) && !uuid.test(value);
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const members: readonly [Exclude<keyof JobFilter, 'id' | 'state' | 'args'>, TermKey][] = [
  ['queue', 'queue'],
  ['name', 'name'],
  ['tag', 'tag'],
  ['recurringJobId', 'recurring'],
  ['batchId', 'batch'],
  ['concurrencyKey', 'key'],
  ['parentId', 'parent'],
  ['enqueuedBy', 'enqueuer'],
  ['awaits', 'awaits'],
  ['correlate', 'correlate'],
  ['serverId', 'server'],
  ['error', 'error'],
  ['errorFingerprint', 'fingerprint'],
  ['createdAfter', 'after'],
  ['createdBefore', 'before'],
  ['finishedAfter', 'finished-after'],
  ['finishedBefore', 'finished-before'],
  ['startedAfter', 'started-after'],
  ['startedBefore', 'started-before'],
  ['dueAfter', 'due-after'],
  ['dueBefore', 'due-before'],
  ['priority', 'priority'],
  ['q', 'q'],
];

/** Formats a storage filter as search text. If the filter selects jobs by id, returns only the number of ids. */
export function filterText(filter: JobFilter): string {
  const { id, state = [] } = filter;
  if (id !== undefined && id.length > 0) return counted(id.length, 'selected job');
  const texts = [
    state.map((jobState) => `state:${jobState}`).join(' '),
    searchText({ state: null, terms: termsOf(filter) }),
  ];
  return texts.filter(Boolean).join(' ') || 'all jobs';
}

function termsOf(filter: JobFilter): Term[] {
  const terms = members.flatMap(([member, key]) => {
    const values = filter[member];
    if (values === undefined) return [];
    return textsOf(values).map((value): Term => ({ key, value }));
  });
  const args = (filter.args ?? []).flatMap(({ path, values }) =>
    [...new Set(values.map((value) => (typeof value === 'string' ? value : JSON.stringify(value))))].map(
      (value): Term => ({ key: `args.${path.join('.')}`, value }),
    ),
  );
  return [...terms, ...args];
}

/** Returns the values of a filter as strings. Splits a word search into words. */
function textsOf(values: string | Date | readonly (string | number)[]): readonly string[] {
  if (values instanceof Date) return [values.toISOString()];
  return typeof values === 'string' ? values.split(/\s+/).filter(Boolean) : values.map(String);
}
