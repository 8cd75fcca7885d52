import { conflict, notFound } from '../../http/problem.js';
import type { Actions } from '../../actions/action.js';

export const batchActions: Actions = {
  '/batches/:target/cancel': {
    role: 'operator',
    flash: 'The batch is cancelled. Running handlers have been asked to stop.',
    perform: async (control, { target }) => {
      const result = await control.batches.cancel(target);
      if (result.outcome === 'unknown') throw notFound('There is no such batch', 'Nothing was done.');
      if (result.outcome === 'illegal') {
        throw conflict(
          'This batch cannot be cancelled',
          'All of its jobs have finished already. Nothing was changed.',
        );
      }
      const { id, total, done, failed } = result.batch;
      return { next: `batches/${id}`, count: { count: total - done - failed, exact: true } };
    },
  },
};
