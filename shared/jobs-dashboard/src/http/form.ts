import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Authenticator } from '../auth/authenticator.js';
import { isSameOrigin } from '../auth/same-origin.js';
import type { Viewer } from '../auth/viewer.js';
import { Problem } from './problem.js';

/** The fields of a form, each as often as it was sent: read as a page's query is, so that both mean the same. */
export type Form = URLSearchParams;

/**
 * Takes the body in as text, for {@link checkForm}. Parsers of nested objects are no good here: they drop what is
 * nested, too long or too much, and a filter that lost its conditions reaches every job.
 *
 * @param limit as `64kb`
 */
export function readForm(limit: string): Middleware {
  return bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/x-www-form-urlencoded'] },
    textLimit: limit,
  });
}

/**
 * The fields of a form that one of these pages has sent.
 *
 * @throws {Problem} 403 if another site sent it, or its token is not of this viewer’s making
 */
export function checkForm(ctx: Context, authenticator: Authenticator, viewer: Viewer | null): Form {
  const form = new URLSearchParams(textOf(ctx));
  if (isSameOrigin(ctx) && authenticator.acceptsFormToken(ctx, viewer, form.get('token'))) return form;
  throw new Problem({
    status: 403,
    title: 'This form is not valid any more',
    text: 'It was sent from another site, or it is older than its session. Nothing was changed; go back, reload the page and send it again.',
  });
}

/** A host application may have read the body before; what its parser made of it does not count. */
function textOf({ request: { body, rawBody } }: Context): string {
  if (typeof rawBody === 'string') return rawBody;
  if (typeof body === 'string') return body;
  if (Object.keys(body ?? {}).length === 0) return '';
  throw new Error('Something before the dashboard has read the body of a form and kept no rawBody of it');
}
