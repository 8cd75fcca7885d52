import { Router } from '@koa/router';
import type { Context } from 'koa';
import { isSameOrigin } from '../auth/same-origin.js';
import { setDensity } from './density.js';
import { formOf, readForm } from './form.js';
import type { Layout } from './layout.js';

/** The path, inside the dashboard, of the form with display settings. */
export const displayPath = '/display';

/**
 * Returns the router that sets the density and redirects back to the previous page. The form needs no token, because it
 * changes only what its sender sees.
 */
export function displayRouter(prefix: string, layout: Layout): Router {
  const router = new Router({ prefix });
  router.post(displayPath, readForm('8kb'), (ctx) => {
    if (isSameOrigin(ctx))
      setDensity(ctx, formOf(ctx).get('density') === 'compact' ? 'compact' : 'comfortable');
    ctx.status = 303;
    ctx.set('Location', pageBefore(ctx) ?? layout.links(ctx)(''));
  });
  return router;
}

/** Returns the URL of the page with the submitted form; `null` if it is unknown or has another origin. */
function pageBefore(ctx: Context): string | null {
  const page = ctx.get('Referer');
  return URL.canParse(page) && new URL(page).origin === ctx.get('Origin') ? page : null;
}
