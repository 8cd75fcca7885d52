import type { BulkOperation } from '../storage/bulk-operations.js';
import { noFields, operation } from './operation.js';
import type { Facts } from './operation-description.js';

/** The operations on a bulk operation. */
export const bulkOperations = {
  stop: operation<typeof noFields, BulkOperation, BulkOperation | null>({
    on: 'bulk',
    name: 'stop',
    summary: 'Stop a bulk operation',
    note: 'The jobs that it has changed stay changed. Before it has started, nothing is changed.',
    done: 'stopped',
    message: 'The action was stopped.',
    role: 'operator',
    fields: noFields,
    change: ({ bulk }, { target }, options) => bulk.cancel(target, options),
    facts: (before): Facts => {
      if (before === null) return { outcome: 'unknown' };
      const { state } = before;
      if (state === 'done' || state === 'failed') return { outcome: 'illegal', why: `it is ${state}`, state };
      return { outcome: state === 'cancelled' ? 'unchanged' : 'done' };
    },
    after: (_storage, _call, operation: BulkOperation | null) => operation,
  }),
};
