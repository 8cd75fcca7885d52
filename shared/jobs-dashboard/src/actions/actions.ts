import type { Actions } from './action.js';
import { batchActions } from '../pages/batch/actions.js';
import { bulkActions } from '../pages/bulk-operation/actions.js';
import { jobActions } from '../pages/job/actions.js';
import { queueActions } from '../pages/queue/actions.js';
import { recurringActions } from '../pages/recurring-job/actions.js';
import { serverActions } from '../pages/server/actions.js';

/** Everything that can be done; `:target` is the id or the name of what it is done to. */
export const actions: Actions = {
  ...jobActions,
  ...queueActions,
  ...recurringActions,
  ...batchActions,
  ...bulkActions,
  ...serverActions,
};
