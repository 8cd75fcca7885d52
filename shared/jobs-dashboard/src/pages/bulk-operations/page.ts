import { type BulkOperation, isId } from '@longshore/jobs/storage';
import { badRequest } from '../../http/problem.js';
import { filterText } from '../../search/filter-text.js';
import { bulkWords } from '../../actions/bulk-words.js';
import { readRows } from '../list-page.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

const ROWS = 50;

/**
 * Converts a bulk operation to a row of a list. An operation that was cancelled before it started is shown as undone.
 */
export function bulkRow({ filter, action, ...facts }: BulkOperation): object {
  const { state, finishedAt, startsAt } = facts;
  const isUndone = state === 'cancelled' && finishedAt !== null && finishedAt < startsAt;
  return {
    ...facts,
    action,
    words: bulkWords[action],
    text: filterText(filter),
    shown: isUndone ? 'undone' : state,
  };
}

export async function bulkPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the id of an operation.`);
  return {
    title: 'Bulk actions',
    section: 'jobs',
    view: 'page',
    kicker: { path: 'jobs', text: 'Jobs' },
    regions: [
      {
        name: 'bulk',
        view: 'bulk-list',
        everyMs: 2_000,
        load: async () => {
          const place = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) => reader.bulk.list({ limit, ...place }));
          return {
            operations: rows.map(bulkRow),
            order: 'newest',
            first: after === null ? null : 'bulk',
            next: isComplete ? null : `bulk?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}
