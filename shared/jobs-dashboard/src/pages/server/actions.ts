import type { ServerControlResult } from '@longshore/jobs/storage';
import { notFound } from '../../http/problem.js';
import type { Actions, ActionResult } from '../../actions/action.js';

export const serverActions: Actions = {
  '/servers/:target/quiet': {
    role: 'operator',
    flash: 'The server has been asked to take no more jobs.',
    perform: ({ servers }, { target }, audit) => servers.quiet(target, { audit: audit(after) }),
  },
  '/servers/:target/stop': {
    role: 'operator',
    flash: 'The server has been asked to stop.',
    perform: ({ servers }, { target }, audit) => servers.stop(target, { audit: audit(after) }),
  },
};

function after(result: ServerControlResult): ActionResult {
  if (result.outcome === 'ok') return { next: `servers/${result.server.id}`, changed: result.changed };
  throw notFound('There is no such server', 'It may just have stopped. Nothing was changed.');
}
