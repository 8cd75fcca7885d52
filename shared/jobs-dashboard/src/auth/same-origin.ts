import type { Context } from 'koa';

/**
 * Whether a request that changes something was sent by a page of this very origin, by what the browser itself says:
 * `Sec-Fetch-Site`, or `Origin` against `Host` where that is missing (plain HTTP, old browsers). A request with neither
 * comes from no browser and cannot have been forged by a foreign page. (Valsorda, “Cross-Site Request Forgery”, 2025.)
 */
export function isSameOrigin(ctx: Context): boolean {
  const site = ctx.get('Sec-Fetch-Site');
  if (site !== '') return site === 'same-origin' || site === 'none';
  const origin = ctx.get('Origin');
  if (origin === '') return true;
  return URL.canParse(origin) && new URL(origin).host === ctx.host.toLowerCase();
}
