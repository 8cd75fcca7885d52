import { endOf, isId } from '@longshore/jobs/storage';
import { badRequest } from '../../http/problem.js';
import { readRows } from '../list-page.js';
import type { PageContext, PageRequest } from '../page.js';
import type { Page } from '../../shell/page.js';

const ROWS = 50;

export async function batchesPage({ query }: PageRequest, { reader }: PageContext): Promise<Page> {
  const after = query.get('after');
  if (after !== null && !isId(after))
    throw badRequest('There is no such page of the list', `“${after}” is not the id of a batch.`);
  return {
    title: 'Batches',
    section: 'batches',
    view: 'page',
    regions: [
      {
        name: 'batches',
        view: 'batches-list',
        everyMs: 5_000,
        load: async () => {
          const place = after === null ? {} : { after };
          const { rows, isComplete } = await readRows(ROWS, (limit) =>
            reader.batches.list({ limit, ...place }),
          );
          return {
            batches: rows.map((batch) => ({ ...batch, end: endOf(batch) })),
            order: 'newest',
            first: after === null ? null : 'batches',
            next: isComplete ? null : `batches?after=${rows.at(-1)?.id}`,
          };
        },
      },
    ],
  };
}
