import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Authenticator } from '../auth/authenticator.js';
import { isSameOrigin } from '../auth/same-origin.js';
import type { Viewer } from '../auth/viewer.js';
import { Problem } from './problem.js';

/** The fields of a form, parsed like the query of a page. */
export type Form = URLSearchParams;

/**
 * Reads the body as text, for {@link checkForm}. Parsers that build nested objects silently drop fields beyond their
 * limits, and a filter that loses conditions would match more jobs.
 *
 * @param limit the maximum length of the body, such as `64kb`
 */
export function readForm(limit: string): Middleware {
  return bodyParser({
    enableTypes: ['text'],
    extendTypes: { text: ['application/x-www-form-urlencoded'] },
    textLimit: limit,
  });
}

/**
 * Returns the fields of a form that was sent by a page of this dashboard.
 *
 * @throws {Problem} 403 if another site sent it, or its token is not valid for this viewer
 */
export function checkForm(ctx: Context, authenticator: Authenticator, viewer: Viewer | null): Form {
  const form = formOf(ctx);
  if (isSameOrigin(ctx) && authenticator.acceptsFormToken(ctx, viewer, form.get('token'))) return form;
  throw new Problem({
    status: 403,
    title: 'This form has expired',
    text: 'It was sent from another site, or its session has ended. Nothing was changed. Go back, reload the page and try again.',
  });
}

/** Returns the fields of a form without checking where it comes from. */
export function formOf(ctx: Context): Form {
  return new URLSearchParams(textOf(ctx));
}

/** Returns the raw text of the body, even if the host application has parsed it already. */
function textOf({ request: { body, rawBody } }: Context): string {
  if (typeof rawBody === 'string') return rawBody;
  if (typeof body === 'string') return body;
  if (Object.keys(body ?? {}).length === 0) return '';
  throw new Error(
    'Middleware before the dashboard has consumed the body of a form without keeping it as rawBody',
  );
}
