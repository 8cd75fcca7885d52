import type { SetAsideItem } from '@longshore/jobs/storage';
import type { ActionResult, Actions } from '../../actions/action.js';
import { notFound } from '../../http/problem.js';

export const setAsideActions: Actions = {
  '/set-aside/:target/retry': {
    role: 'operator',
    flash: 'The next server that does this kind of work will retry the item.',
    perform: ({ setAside }, { target }, audit) => setAside.retry(target, { audit: audit(after) }),
  },
  '/set-aside/:target/discard': {
    role: 'operator',
    isReasoned: true,
    flash: 'The item is discarded and will not be retried.',
    perform: ({ setAside }, { target }, audit) => setAside.discard(target, { audit: audit(after) }),
  },
};

/**
 * Returns the result of an action on an item. If the item belongs to a job, the target is the job, so that the job's
 * history includes the action.
 *
 * @throws {Problem} 404 if there is no such item
 */
function after(item: SetAsideItem | null): ActionResult {
  if (item === null) {
    throw notFound(
      'There is no such item',
      'It may have succeeded or been discarded in the meantime. Nothing was changed.',
    );
  }
  return { next: 'set-aside', target: item.jobId ?? `${item.role} ${item.key}` };
}
