import { isJobState, noFilters, type Filters } from './filters.js';

/** What someone typed into the search box, understood. */
export type Search =
  | { readonly kind: 'job'; readonly id: string }
  | { readonly kind: 'filters'; readonly filters: Filters }
  | { readonly kind: 'misunderstood'; readonly why: string };

const uuid = /[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/i;
const term = /(?:(id|name|queue|state|tag|error|args(?:\.[^:\s"]*)?|before|after):)?(?:"([^"]*)"|(\S+))?/gi;

/**
 * Understands `id: name: queue: state:` with values that are quoted if they have blanks; a word alone is a name. A job's
 * id may be pasted as it was found, in a URL or a log line. Terms of one kind add up, terms of several kinds narrow.
 */
export function parseSearch(text: string): Search {
  const id = uuid.exec(text)?.[0];
  if (id !== undefined) return { kind: 'job', id: id.toLowerCase() };
  let filters = noFilters;
  for (const [whole, key = 'name', quotedValue, value = quotedValue ?? ''] of text.matchAll(term)) {
    if (whole === '') continue;
    const next = add(filters, key.toLowerCase(), value);
    if (typeof next === 'string') return { kind: 'misunderstood', why: next };
    filters = next;
  }
  return { kind: 'filters', filters };
}

/** The text that {@link parseSearch} understands as these filters. The state has its own place on the page. */
export function searchText({ queue, name }: Filters): string {
  return [
    ...queue.map((value) => `queue:${quoted(value)}`),
    ...name.map((value) => `name:${quoted(value)}`),
  ].join(' ');
}

function add(filters: Filters, key: string, value: string): Filters | string {
  if (value === '') return `“${key}:” needs a value.`;
  if (key === 'name') return { ...filters, name: [...filters.name, value] };
  if (key === 'queue') return { ...filters, queue: [...filters.queue, value] };
  if (key === 'state') {
    const state = value.toLowerCase();
    return isJobState(state) ? { ...filters, state } : `There is no state “${value}”.`;
  }
  if (key === 'id') return `“${value}” is no job’s id: an id is a UUID.`;
  return `“${key}:” cannot be searched for. Use id:, name:, queue: or state:.`;
}

function quoted(value: string): string {
  return /[\s"]/.test(value) ? `"${value}"` : value;
}
