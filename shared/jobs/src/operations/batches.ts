import { type Batch, endOf } from '../job/batch.js';
import type { BatchControlResult } from '../storage/batches.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

/** The operations on a batch. */
export const batchOperations = {
  cancel: operation<typeof noFields, Batch, BatchControlResult>({
    on: 'batches',
    name: 'cancel',
    summary: 'Cancel the unfinished jobs of a batch',
    note: 'Running jobs are cancelled as by `PUT /jobs/{id}/cancel`. A batch whose jobs have all finished cannot be cancelled.',
    done: 'cancelled',
    message: 'The batch is cancelled. Running handlers have been asked to stop.',
    role: 'operator',
    isFrequent: true,
    fields: noFields,
    change: ({ batches }, { target }, options) => batches.cancel(target, options),
    facts: (result): Facts => {
      if (result.outcome === 'unknown') return { outcome: 'unknown' };
      const { total, done, failed, cancelled } = result.batch;
      if (result.outcome === 'ok' && result.changed)
        return { outcome: 'done', count: { count: total - done - failed - cancelled, exact: true } };
      if (result.outcome === 'ok' || endOf(result.batch) === 'cancelled') return { outcome: 'unchanged' };
      return { outcome: 'illegal', why: 'all of its jobs have finished' };
    },
    after: (_storage, _call, result: BatchControlResult): Batch | null =>
      result.outcome === 'unknown' ? null : result.batch,
  }),
};
