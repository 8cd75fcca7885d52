import type { Context } from 'koa';

/**
 * Returns whether a request was sent by a page of this origin, according to `Sec-Fetch-Site`, or to `Origin`
 * and `Host` if that is missing (plain HTTP, old browsers). A request with neither header does not come from
 * a browser and cannot be forged by another site. (Valsorda, “Cross-Site Request Forgery”, 2025.)
 */
export function isSameOrigin(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  const origin = ctx.get('Origin');
  if (origin === '') return true;
  return URL.canParse(origin) && new URL(origin).host === ctx.host.toLowerCase();
}
