import type { BulkAction, BulkOperation } from '@longshore/jobs/storage';
import { conflict, notFound } from '../../http/problem.js';
import type { Action, ActionRequest, ActionResult, Actions } from '../../actions/action.js';
import { type JobSelection, parseJobSelection } from '../../search/job-selection.js';

/** The `bulk-…` actions start an operation on the jobs that the form selects, by their ids or by filters. */
export const bulkActions: Actions = {
  '/bulk-cancel': startBulk('cancel', 'operator'),
  '/bulk-retry': startBulk('retry', 'operator'),
  '/bulk-run': startBulk('run', 'operator'),
  '/bulk-delete': startBulk('delete', 'admin'),
  '/bulk/:target/stop': {
    role: 'operator',
    flash: 'The action has been asked to stop.',
    perform: ({ bulk }, { target }, audit) => bulk.cancel(target, { audit: audit(operationAfter) }),
  },
};

function startBulk(action: BulkAction, role: Action['role']): Action {
  return {
    role,
    intent: (request) => ({ filter: selectionOf(request).auditFilter }),
    perform: ({ bulk }, request, audit) => {
      const { filter } = selectionOf(request);
      const requestedBy = request.viewer.name.slice(0, 200);
      const started = ({ id, matched }: BulkOperation): ActionResult => ({
        next: `bulk/${id}`,
        target: id,
        count: matched,
      });
      return bulk.start({ action, filter, requestedBy }, { audit: audit(started) });
    },
  };
}

function operationAfter(operation: BulkOperation | null): ActionResult {
  if (operation === null) throw notFound('There is no such operation', 'Nothing was changed.');
  const { id, state } = operation;
  if (state === 'done' || state === 'failed')
    throw conflict('This operation cannot be stopped', 'It has already finished. Nothing was changed.');
  return { next: `bulk/${id}`, changed: state === 'running' };
}

function selectionOf({ form, ...reading }: ActionRequest): JobSelection {
  return parseJobSelection(new URLSearchParams(form.get('which') ?? ''), reading);
}
