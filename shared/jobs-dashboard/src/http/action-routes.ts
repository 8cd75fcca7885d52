import { Router } from '@koa/router';
import { actions } from '../actions/actions.js';
import { type ActionRecord, audited } from '../actions/audited.js';
import type { DashboardControl } from '../actions/control.js';
import type { Gate } from '../access/gate.js';
import { hasRole } from '../access/viewer.js';
import type { DashboardReader } from '../reading/dashboard-reader.js';
import { Once } from '../actions/once.js';
import { nextWithReceipt } from '../actions/receipt.js';
import { checkForm, readForm } from './form.js';
import type { Layout } from './layout.js';
import { Problem } from './problem.js';
import { visitIn } from './visit.js';

export interface ActionContext {
  readonly control: DashboardControl;
  readonly reader: DashboardReader;
  readonly gate: Gate;
  readonly layout: Layout;
  /** Nothing that was read before is shown any more. */
  readonly forget: () => void;
  readonly now: () => number;
  readonly redact: RegExp;
  readonly onAction: (record: ActionRecord) => void;
}

/** Routes the forms: each is checked for its role, its origin and its token, and answered with 303. */
export function actionRouter(prefix: string, context: ActionContext): Router {
  const { control, reader, gate, layout, forget, now, redact, onAction } = context;
  const router = new Router({ prefix });
  const read = readForm('64kb');
  const once = new Once<string>(now);
  for (const [path, { role, intent, perform }] of Object.entries(actions)) {
    const action = path.slice(1).replace('/:target', '');
    router.post(path, read, async (ctx) => {
      const { viewer } = visitIn(ctx);
      if (!hasRole(viewer, role)) throw notAllowed(role);
      const form = checkForm(ctx, gate, viewer);
      const target = ctx.params['target'] ?? '';
      const wish = { target, form, viewer, reader, nowMs: now(), redact };
      const undertaking = { viewer, address: ctx.ip, action, target, intent: intent?.(wish) ?? {} };
      const next = await once.do(JSON.stringify([path, target, form.toString()]), async () => {
        try {
          const done = await audited(control.audit, undertaking, () => perform(control, wish));
          onAction(done.record);
          return nextWithReceipt(done.deed, path, (deed) => gate.receipt(ctx, viewer, deed));
        } finally {
          // Whoever does not know whether it was done looks at how things are now.
          forget();
        }
      });
      ctx.status = 303;
      ctx.set('Location', layout.links(ctx)(next));
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
