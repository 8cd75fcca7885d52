import type { Context } from 'koa';
import type { Gate } from '../access/gate.js';
import { isSameOrigin } from '../access/same-origin.js';
import type { Viewer } from '../access/viewer.js';
import { Problem } from './problem.js';

export interface Form {
  readonly [field: string]: unknown;
}

/**
 * The fields of a form that one of these pages has sent.
 *
 * @throws {Problem} 403 if another site sent it, or its token is not of this viewer’s making
 */
export function checkForm(ctx: Context, gate: Gate, viewer: Viewer | null): Form {
  const form = (ctx.request.body ?? {}) as Form;
  if (isSameOrigin(ctx) && gate.acceptsFormToken(ctx, viewer, form['token'])) return form;
  throw new Problem({
    status: 403,
    title: 'This form is not valid any more',
    text: 'It was sent from another site, or it is older than its session. Go back, reload the page and send it again.',
  });
}
