import { Router } from '@koa/router';
import type { JsonValue } from '@longshore/jobs';
import { actions } from '../actions/actions.js';
import type { DashboardControl } from '../actions/control.js';
import type { Gate } from '../access/gate.js';
import { hasRole, type Viewer } from '../access/viewer.js';
import type { Snapshot } from '../reading/snapshot.js';
import { checkForm, readForm } from './form.js';
import type { Layout } from './layout.js';
import { Problem } from './problem.js';
import type { ViewerVisit } from './visit.js';

/** What somebody did on the dashboard, for the host application’s records. */
export interface ActionRecord {
  readonly viewer: Viewer;
  /** `jobs/retry`, `queues/pause`, and so on: what it is about, and what was done. */
  readonly action: string;
  /** The id or the name of what it was done to; `null` if it was done to all jobs that match a filter. */
  readonly target: string | null;
  /** How many things it was done to. */
  readonly count: number;
  /** Which jobs, if it was done to all that match. */
  readonly filter: JsonValue;
}

export interface ActionContext {
  readonly control: DashboardControl;
  readonly gate: Gate;
  readonly layout: Layout;
  readonly snapshot: Snapshot;
  readonly now: () => number;
  readonly onAction: (record: ActionRecord) => void;
}

/** Routes the forms: each is checked for its role, its origin and its token, and answered with 303. */
export function actionRouter(prefix: string, context: ActionContext): Router<{ visit: ViewerVisit }> {
  const { control, gate, layout, snapshot, now, onAction } = context;
  const router = new Router<{ visit: ViewerVisit }>({ prefix });
  const read = readForm('64kb');
  for (const [path, { role, perform }] of Object.entries(actions)) {
    router.post(path, read, async (ctx) => {
      const { viewer } = ctx.state.visit;
      if (!hasRole(viewer, role)) throw notAllowed(role);
      const form = checkForm(ctx, gate, viewer);
      const named = ctx.params['target'] ?? '';
      const deed = await perform(control, { target: named, form, viewer, nowMs: now() });
      const { target = named, count = 1, filter = null } = deed;
      snapshot.clear();
      const record = { action: path.slice(1).replace('/:target', ''), target: target || null, count, filter };
      await control.audit.record({ who: viewer.name, ...record });
      onAction({ viewer, ...record });
      ctx.status = 303;
      ctx.set('Location', layout.links(ctx)(deed.next));
    });
  }
  return router;
}

function notAllowed(role: string): Problem {
  return new Problem({
    status: 403,
    title: 'You may not do this',
    text: `It takes the role ${role}; nothing was changed.`,
  });
}
