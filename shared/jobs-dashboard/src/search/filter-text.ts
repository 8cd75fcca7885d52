import type { JobFilter } from '@longshore/jobs/storage';
import { counted } from '../format/count.js';
import type { Term, TermKey } from './filters.js';
import { searchText } from './search.js';

const members: readonly [Exclude<keyof JobFilter, 'id' | 'state' | 'args'>, TermKey][] = [
  ['queue', 'queue'],
  ['name', 'name'],
  ['tag', 'tag'],
  ['recurringJobId', 'recurring'],
  ['batchId', 'batch'],
  ['concurrencyKey', 'key'],
  ['parentId', 'parent'],
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
    state.map((each) => `state:${each}`).join(' '),
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
