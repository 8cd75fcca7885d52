import type { Context } from 'koa';

/**
 * Returns whether a request was sent by a page of this origin or directly by the user, according to `Sec-Fetch-Site`.
 * If that header is missing (plain HTTP, old browsers), compares `Origin` with `Host`. A request with neither
 * `Sec-Fetch-Site` nor `Origin` does not come from a browser, so no other site can have forged it. (Valsorda,
 * “Cross-Site Request Forgery”, 2025.)
 */
export function isSameOrigin(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  const origin = ctx.get('Origin');
  if (origin === '') return true;
  return URL.canParse(origin) && new URL(origin).host === ctx.host.toLowerCase();
}
