import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { readCookie, setCookie } from '../auth/sessions.js';
import type { Link } from '../http/address.js';
import { isSameOrigin } from '../http/request-origin.js';
import { formOf, readForm } from './form.js';

/** The path inside the dashboard to which the display settings form is submitted. */
export const displayPath = '/display';

/**
 * Serves the form that sets the density, and redirects back to the previous page. The form needs no token, because it
 * changes only what its sender sees.
 *
 * @param linksOf returns a function that creates links relative to the requested page
 */
export function serveDisplay(
  router: Router,
  linksOf: (ctx: Context) => Link,
  origin: string | undefined,
): void {
  router.post(displayPath, readForm('8kb'), (ctx) => {
    if (isSameOrigin(ctx, origin))
      setDensity(ctx, formOf(ctx).get('density') === 'compact' ? 'compact' : 'comfortable');
    ctx.status = 303;
    ctx.set('Location', pageBefore(ctx) ?? linksOf(ctx)(''));
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

const COOKIE = 'longshore_density';
const YEAR_MS = 365 * 24 * 3_600_000;

/** The spacing of tables and panels. */
type Density = 'comfortable' | 'compact';

/** Returns the density that the viewer has chosen in this browser. Defaults to `comfortable`. */
export function densityOf(ctx: Context): Density {
  return readCookie(ctx, COOKIE) === 'compact' ? 'compact' : 'comfortable';
}

function setDensity(ctx: Context, density: Density): void {
  setCookie(ctx, COOKIE, density === 'compact' ? density : '', YEAR_MS);
}
