import type { ControlOptions, SetAsideItem } from '@longshore/jobs/storage';
import type { ActionResult, Actions } from '../../actions/action.js';
import { notFound } from '../../http/problem.js';

export const setAsideActions: Actions = {
  '/set-aside/:target/retry': {
    role: 'operator',
    flash: 'The next server that does this kind of work will retry the item.',
    perform: ({ setAside }, { target }) => act(target, (options) => setAside.retry(target, options)),
  },
  '/set-aside/:target/discard': {
    role: 'operator',
    flash: 'The item is discarded and will not be retried.',
    perform: ({ setAside }, { target }) => act(target, (options) => setAside.discard(target, options)),
  },
};

/** The audit names the job, if the item is about one, so that the entry is part of the job's history. */
async function act(
  id: string,
  change: (options: ControlOptions<SetAsideItem>) => Promise<boolean>,
): Promise<ActionResult> {
  let subject = id;
  const check = ({ jobId, role, key }: SetAsideItem): void => {
    subject = jobId ?? `${role} ${key}`;
  };
  if (!/^\d{1,18}$/.test(id) || !(await change({ check }))) {
    throw notFound(
      'There is no such item',
      'It may have succeeded or been discarded in the meantime. Nothing was changed.',
    );
  }
  return { next: 'set-aside', target: subject };
}
