import {
  complaintOf,
  type Filters,
  isJobState,
  isTermKey,
  noFilters,
  plainKeys,
  type Term,
} from './filters.js';

/** What someone typed into the search box, understood. */
export type Search =
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'filters'; readonly filters: Filters }
  | { readonly kind: 'misunderstood'; readonly why: string };

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;
/** Terms whose value may be an id that is not a job's, or not the one to go to. */
const ofAnother = /(?:batch|parent|server|args\.[^:\s"]*):(?:"[^"]*"|\S+)/gi;
const term = new RegExp(
  String.raw`(?:(id|state|${plainKeys.join('|')}|args(?:\.[^:\s"]*)?):)?(?:"([^"]*)"|(\S+))?`,
  'gi',
);

/**
 * Understands terms such as `queue:mail`, `tag:"two words"`, `args.customer.id:77` and `after:2h`; a word alone is
 * looked for wherever there is text. A job's id may be pasted as it was found, in a URL or a log line; behind `batch:` and
 * its like it is theirs.
 */
export function parseSearch(text: string): Search {
  let filters = noFilters;
  const pasted = uuid.exec(text.replaceAll(ofAnother, ' '))?.[0];
  if (pasted !== undefined) return { kind: 'job', id: pasted.toLowerCase() };
  for (const [whole, key = 'q', quotedValue, value = quotedValue ?? ''] of text.matchAll(term)) {
    if (whole === '') continue;
    const next = add(filters, key, value);
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
    return `“${key}:” cannot be searched for. Use id:, ${plainKeys.map((known) => `${known}:`).join(', ')}, state: or args.path:.`;
  }
  return complaintOf({ key, value }) ?? { ...filters, terms: [...filters.terms, { key, value }] };
}

function isPlainWord({ key, value }: Term): boolean {
  return key === 'q' && !/[\s":]/.test(value);
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value}"` : value;
}
