import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { isSameOrigin } from '../http/same-origin.js';
import { setDensity } from './density.js';
import { formOf, readForm } from './form.js';
import type { Layout } from './layout.js';

/** The path inside the dashboard to which the display settings form is submitted. */
export const displayPath = '/display';

/**
 * Serves the form that sets the density, and redirects back to the previous page. The form needs no token, because it
 * changes only what its sender sees.
 */
export function serveDisplay(router: Router, layout: Layout, origin: string | undefined): void {
  router.post(displayPath, readForm('8kb'), (ctx) => {
    if (isSameOrigin(ctx, origin))
      setDensity(ctx, formOf(ctx).get('density') === 'compact' ? 'compact' : 'comfortable');
    ctx.status = 303;
    ctx.set('Location', pageBefore(ctx) ?? layout.links(ctx)(''));
  });
}

/**
 * Returns the URL of the page that contains the submitted form, from the `Referer` header. Returns `null` if the header
 * is missing or names another origin.
 */
function pageBefore(ctx: Context): string | null {
  const page = ctx.get('Referer');
  return URL.canParse(page) && new URL(page).origin === ctx.get('Origin') ? page : null;
}
