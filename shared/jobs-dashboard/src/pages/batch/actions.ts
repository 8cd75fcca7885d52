import type { BatchControlResult } from '@longshore/jobs/storage';
import { conflict, notFound } from '../../http/problem.js';
import type { ActionResult, Actions } from '../../actions/action.js';

export const batchActions: Actions = {
  '/batches/:target/cancel': {
    role: 'operator',
    flash: 'The batch is cancelled. Running handlers have been asked to stop.',
    perform: ({ batches }, { target }, audit) => batches.cancel(target, { audit: audit(batchAfter) }),
  },
};

function batchAfter(result: BatchControlResult): ActionResult {
  if (result.outcome === 'unknown') throw notFound('There is no such batch', 'Nothing was changed.');
  if (result.outcome === 'illegal') {
    throw conflict(
      'This batch cannot be cancelled',
      'All of its jobs have finished already. Nothing was changed.',
    );
  }
  const { id, total, done, failed, cancelled } = result.batch;
  const count = { count: total - done - failed - cancelled, exact: true };
  return { next: `batches/${id}`, count, changed: result.changed };
}
