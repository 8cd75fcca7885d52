import type { ServerControlResult } from '@longshore/jobs/storage';
import { notFound } from '../../http/problem.js';
import type { Actions, ActionResult } from '../../actions/action.js';

export const serverActions: Actions = {
  '/servers/:target/quiet': {
    role: 'operator',
    flash: 'The server has been asked to take no more jobs.',
    perform: async (control, { target }) => after(await control.servers.quiet(target)),
  },
  '/servers/:target/stop': {
    role: 'operator',
    flash: 'The server has been asked to stop.',
    perform: async (control, { target }) => after(await control.servers.stop(target)),
  },
};

function after(result: ServerControlResult): ActionResult {
  if (result.outcome === 'ok') return { next: `servers/${result.server.id}`, changed: result.changed };
  throw notFound('There is no such server', 'It may just have stopped. Nothing was changed.');
}
