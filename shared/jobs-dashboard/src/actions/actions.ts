import type { Actions } from './action.js';
import { batchActions } from './batch-actions.js';
import { bulkActions } from './bulk-actions.js';
import { jobActions } from './job-actions.js';
import { queueActions } from './queue-actions.js';
import { recurringActions } from './recurring-actions.js';
import { serverActions } from './server-actions.js';

/** Everything that can be done; `:target` is the id or the name of what it is done to. */
export const actions: Actions = {
  ...jobActions,
  ...queueActions,
  ...recurringActions,
  ...batchActions,
  ...bulkActions,
  ...serverActions,
};
