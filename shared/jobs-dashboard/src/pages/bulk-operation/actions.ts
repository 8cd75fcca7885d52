import type { BulkAction, BulkOperation, BulkPreview } from '@longshore/jobs/storage';
import { conflict, notFound } from '../../http/problem.js';
import type { Action, ActionRequest, ActionResult, Actions } from '../../actions/action.js';
import { invalidField, textField } from '../../actions/fields.js';
import { parseConfirmed } from '../../search/confirmed-jobs.js';
import { type JobSelection, parseJobSelection } from '../../search/job-selection.js';
import { isDestructive, undoMs } from '../bulk-words.js';

/**
 * The actions of bulk operations. Each `bulk-…` action starts an operation on the jobs that the form selects by id or
 * by filter.
 */
export const bulkActions: Actions = {
  '/bulk-cancel': startBulk('cancel', 'operator'),
  '/bulk-retry': startBulk('retry', 'operator'),
  '/bulk-run': startBulk('run', 'operator'),
  '/bulk-delete': startBulk('delete', 'admin'),
  '/bulk/:target/stop': {
    role: 'operator',
    flash: 'The action was stopped.',
    perform: ({ bulk }, { target }, audit) => bulk.cancel(target, { audit: audit(operationAfter) }),
  },
};

function startBulk(action: BulkAction, role: Action['role']): Action {
  return {
    role,
    isReasoned: action === 'delete',
    intent: (request) => ({ filter: selectionOf(request).auditFilter }),
    perform: ({ bulk }, request, audit) => {
      const { filter } = selectionOf(request);
      const confirmed = confirmedIn(request, action);
      const requestedBy = request.viewer.name.slice(0, 200);
      const dependents = request.form.get('dependents') === 'on';
      const delayMs = action === 'delete' ? undoMs : 0;
      const started = ({ id, matched }: BulkOperation): ActionResult => ({
        next: `bulk/${id}`,
        target: id,
        count: matched,
      });
      return bulk.start(
        { action, filter, requestedBy, confirmed, delayMs, dependents },
        { audit: audit(started) },
      );
    },
  };
}

function operationAfter(operation: BulkOperation | null): ActionResult {
  if (operation === null) throw notFound('There is no such operation', 'Nothing was changed.');
  const { id, state } = operation;
  if (state === 'done' || state === 'failed')
    throw conflict('This operation cannot be stopped', 'It has already finished. Nothing was changed.');
  return { next: `bulk/${id}`, changed: state === 'running' || state === 'pending' };
}

/**
 * Returns the preview that the confirmation page showed.
 *
 * @throws {Problem} (400) if the form contains no preview; (422) if the operator must type the action's name to confirm
 *   it, but did not
 */
function confirmedIn({ form }: ActionRequest, action: BulkAction): BulkPreview {
  const confirmed = parseConfirmed(form.get('confirmed'));
  const isTyped = textField(form, 'typed').toLowerCase() === action;
  if (isDestructive(action) && confirmed.count?.exact !== true && !isTyped)
    throw invalidField('The confirmation', `the word “${action}”, because the number of jobs is not exact`);
  return confirmed;
}

function selectionOf({ form, ...reading }: ActionRequest): JobSelection {
  return parseJobSelection(new URLSearchParams(form.get('which') ?? ''), reading);
}
