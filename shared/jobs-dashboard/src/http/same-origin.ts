import type { Context } from 'koa';

/**
 * Returns whether a request was sent by a page of this origin or directly by the user, according to `Sec-Fetch-Site`.
 * If that header is missing (plain HTTP, old browsers), compares `Origin` with `Host`. A request with neither
 * `Sec-Fetch-Site` nor `Origin` does not come from a browser, so no other site can have forged it. (Valsorda,
 * “Cross-Site Request Forgery”, 2025.)
 *
 * @param own the origin at which browsers reach this service, such as `https://ops.example.com`. Needed behind a proxy that
 *   passes on another `Host`; pages of this origin always count as own
 */
export function isSameOrigin(ctx: Context, own?: string): boolean {
  const origin = ctx.get('Origin');
  if (own !== undefined && origin === own) return true;
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  if (origin === '') return true;
  return URL.canParse(origin) && new URL(origin).host === ctx.host.toLowerCase();
}
