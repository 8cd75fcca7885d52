import type { Actions } from './action.js';
import { batchActions } from '../pages/batch/actions.js';
import { bulkActions } from '../pages/bulk-operation/actions.js';
import { jobActions } from '../pages/job/actions.js';
import { queueActions } from '../pages/queue/actions.js';
import { recurringActions } from '../pages/recurring-job/actions.js';
import { savedSearchActions } from '../pages/jobs/saved-search-actions.js';
import { serverActions } from '../pages/server/actions.js';
import { typeActions } from '../pages/type/actions.js';
import { setAsideActions } from '../pages/set-aside/actions.js';

/** All actions. In their paths, `:target` stands for the id or name of the thing to change. */
export const actions: Actions = {
  ...jobActions,
  ...queueActions,
  ...recurringActions,
  ...batchActions,
  ...bulkActions,
  ...savedSearchActions,
  ...serverActions,
  ...setAsideActions,
  ...typeActions,
};
