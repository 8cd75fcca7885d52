import type { BulkAction } from '@longshore/jobs';
import { notFound } from '../http/problem.js';
import type { Action, Actions } from './action.js';
import { selectionIn } from './selection.js';

/** Each starts an operation on the jobs that the form names by their ids, or else on all that match its filters. */
export const bulkActions: Actions = {
  '/bulk-cancel': startBulk('cancel', 'operator'),
  '/bulk-retry': startBulk('retry', 'operator'),
  '/bulk-run': startBulk('run', 'operator'),
  '/bulk-delete': startBulk('delete', 'admin'),
  '/bulk/:target/stop': {
    role: 'operator',
    perform: async ({ bulk }, { target }) => {
      const operation = await bulk.cancel(target);
      if (operation === null) throw notFound('There is no such operation', 'Nothing was done.');
      return { next: `bulk/${operation.id}` };
    },
  },
};

function startBulk(action: BulkAction, role: Action['role']): Action {
  return {
    role,
    perform: async ({ bulk }, { form, viewer, nowMs }) => {
      const { filter, told } = selectionIn(new URLSearchParams(form.get('which') ?? ''), nowMs);
      const requestedBy = viewer.name.slice(0, 200);
      const { id, matched } = await bulk.start({ action, filter, requestedBy });
      return { next: `bulk/${id}`, target: id, count: matched?.count ?? 0, filter: told };
    },
  };
}
