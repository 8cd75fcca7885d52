import type { BulkOperation } from '@longshore/jobs/storage';
import { notFound } from '../../http/problem.js';
import { bulkRow } from '../bulk-operations/page.js';
import { bulkWords } from '../bulk-words.js';
import type { Page, PageContext, PageRequest } from '../page.js';

const MOST_IDS = 100;

export async function bulkOperationPage({ params }: PageRequest, context: PageContext): Promise<Page> {
  const { id, action, state } = await find(params['operation'] ?? '', context);
  return {
    title: bulkWords[action].title,
    section: 'jobs',
    view: 'page',
    kicker: { path: 'bulk', text: 'Bulk actions' },
    id,
    regions: [
      {
        name: 'operation',
        view: 'bulk-state',
        everyMs: state === 'running' ? 1_000 : 10_000,
        load: async () => {
          const [operation, servers] = await Promise.all([find(id, context), context.reader.servers.list()]);
          return {
            operation: { ...bulkRow(operation), ids: idsOf(operation) },
            unserved: servers.length === 0,
          };
        },
      },
    ],
  };
}

/**
 * Returns the first ids of the selected jobs, and how many more there are. Only clients other than the job list can
 * select that many.
 */
function idsOf({ filter: { id = [] }, action }: BulkOperation): object {
  return { few: id.slice(0, MOST_IDS), more: id.length - MOST_IDS, linked: action !== 'delete' };
}

async function find(id: string, { reader }: PageContext): Promise<BulkOperation> {
  const operation = await reader.bulk.find(id);
  if (operation !== null) return operation;
  throw notFound(
    'There is no such operation',
    `No operation has the id “${id}”. Operations are kept for 30 days.`,
  );
}
