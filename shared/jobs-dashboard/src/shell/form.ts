import type { Context, Middleware } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Authenticator, Viewer } from '../auth/authenticator.js';
import { isSameOrigin } from '../http/request-origin.js';
import { formFields } from '../http/address.js';
import { Problem } from '../http/problem.js';

/** The fields of a submitted form. */
export type Form = URLSearchParams;

/**
 * Returns middleware that reads a form's body as text, for {@link checkForm}. Parsers for nested objects silently drop
 * fields beyond their limits. A filter that lost conditions this way would match more jobs.
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
 * Returns the fields of a form after checking that a page of this dashboard sent it.
 *
 * @throws {Problem} (403) if another site sent the form, or its token is not valid for this viewer
 */
export function checkForm(ctx: Context, authenticator: Authenticator, viewer: Viewer | null): Form {
  const form = formOf(ctx);
  if (
    isSameOrigin(ctx, authenticator.origin) &&
    authenticator.acceptsFormToken(ctx, viewer, form.get('token'))
  )
    return form;
  throw new Problem({
    status: 403,
    title: 'This form has expired',
    text: 'It was sent from another site, or its session has ended. Nothing was changed. Go back, reload the page and try again.',
  });
}

/**
 * Returns the fields of a form without checking which page sent it.
 *
 * @throws {Problem} (400) if a field is not UTF-8 or contains NUL
 */
export function formOf(ctx: Context): Form {
  return formFields(textOf(ctx));
}

/**
 * Returns the body as text; empty if there is none. Uses `rawBody` if other middleware has already parsed the body.
 *
 * @throws {Error} if there is only a parsed body
 */
function textOf({ request: { body, rawBody } }: Context): string {
  if (typeof rawBody === 'string') return rawBody;
  if (typeof body === 'string') return body;
  if (Object.keys(body ?? {}).length === 0) return '';
  throw new Error(
    'Middleware before the dashboard has consumed the body of a form without keeping it as rawBody',
  );
}
