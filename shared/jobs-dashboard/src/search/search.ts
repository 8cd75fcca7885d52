import {
  termError,
  type Filters,
  isJobState,
  isTermKey,
  noFilters,
  plainKeys,
  type Term,
} from './filters.js';

/** What someone typed into the search box, understood. */
export type Search =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'filters'; readonly filters: Filters }
  | { readonly kind: 'misunderstood'; readonly why: string };

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;
/** Between quotes a quote is written twice. */
const value = String.raw`(?:"((?:[^"]|"")*)"|(\S+))`;
const known = String.raw`state|${plainKeys.join('|')}|args(?:\.[^:\s"]*)?`;
/** Their values may have ids in them that are not the one to go to. */
const ofAnother = new RegExp(String.raw`(?<!\S)(?:${known}):${value}`, 'gi');
const term = new RegExp(String.raw`(?:(id|${known}):)?${value}?`, 'gi');

/**
 * Understands terms such as `queue:mail`, `tag:"two words"`, `args.customer.id:77` and `after:2h`; a word alone is
 * looked for wherever there is text. An id, of a job as a rule, may be pasted as it was found, in a URL or a log line; behind `batch:` and
 * its like, and behind `tag:` or `q:`, it is what is looked for.
 */
export function parseSearch(text: string): Search {
  let filters = noFilters;
  const pasted = uuid.exec(text.replaceAll(ofAnother, ' '))?.[0];
  if (pasted !== undefined) return { kind: 'id', id: pasted.toLowerCase() };
  for (const [whole, key = 'q', inQuotes = '', word] of text.matchAll(term)) {
    if (whole === '') continue;
    const next = add(filters, key, word ?? inQuotes.replaceAll('""', '"'));
    if (typeof next === 'string') return { kind: 'misunderstood', why: next };
    filters = next;
  }
  return { kind: 'filters', filters };
}

/** The text that {@link parseSearch} understands as these filters. The state has its own place on the page. */
export function searchText({ terms }: Filters): string {
  return terms
    .map((each) => (isPlainWord(each) ? each.value : `${each.key}:${quoted(each.value)}`))
    .join(' ');
}

function add(filters: Filters, written: string, value: string): Filters | string {
  // What stands in arguments may differ in nothing but capitals.
  const key = /^args/i.test(written) ? `args${written.slice(4)}` : written.toLowerCase();
  if (value === '') return `“${key}:” needs a value.`;
  if (key === 'state') {
    const state = value.toLowerCase();
    return isJobState(state) ? { ...filters, state } : `There is no state “${value}”.`;
  }
  if (key === 'id') return `“${value}” is no job’s id: an id is a UUID.`;
  if (!isTermKey(key)) {
    return `“${key}:” cannot be searched for. Use id:, ${plainKeys.map((each) => `${each}:`).join(', ')}, state: or args.path:.`;
  }
  return termError({ key, value }) ?? { ...filters, terms: [...filters.terms, { key, value }] };
}

function isPlainWord({ key, value }: Term): boolean {
  return key === 'q' && !/[\s":]/.test(value) && !uuid.test(value);
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
