import type { BulkAction } from '@longshore/jobs/storage';
import { conflict, notFound } from '../../http/problem.js';
import type { Action, Actions, ActionRequest } from '../../actions/action.js';
import { type JobSelection, parseJobSelection } from '../../search/job-selection.js';

/** Each starts an operation on the jobs that the form selects, by their ids or by filters. */
export const bulkActions: Actions = {
  '/bulk-cancel': startBulk('cancel', 'operator'),
  '/bulk-retry': startBulk('retry', 'operator'),
  '/bulk-run': startBulk('run', 'operator'),
  '/bulk-delete': startBulk('delete', 'admin'),
  '/bulk/:target/stop': {
    role: 'operator',
    flash: 'The action has been asked to stop.',
    perform: async ({ bulk }, { target }) => {
      const operation = await bulk.cancel(target);
      if (operation === null) throw notFound('There is no such operation', 'Nothing was done.');
      if (operation.state !== 'cancelled')
        throw conflict('This operation cannot be stopped', 'It had already ended. Nothing was changed.');
      return { next: `bulk/${operation.id}` };
    },
  },
};

function startBulk(action: BulkAction, role: Action['role']): Action {
  return {
    role,
    intent: (request) => ({ filter: selectionOf(request).auditFilter }),
    perform: async ({ bulk }, request) => {
      const { filter } = selectionOf(request);
      const requestedBy = request.viewer.name.slice(0, 200);
      const { id, matched } = await bulk.start({ action, filter, requestedBy });
      return { next: `bulk/${id}`, target: id, count: matched };
    },
  };
}

function selectionOf({ form, ...reading }: ActionRequest): JobSelection {
  return parseJobSelection(new URLSearchParams(form.get('which') ?? ''), reading);
}
