import type { Context } from 'koa';
import { readCookie, setCookie } from '../auth/sessions.js';

const COOKIE = 'longshore_density';
const YEAR_MS = 365 * 24 * 3_600_000;

/** The spacing of tables and panels. */
export type Density = 'comfortable' | 'compact';

/** Returns the density that the viewer has chosen in this browser. Defaults to `comfortable`. */
export function densityOf(ctx: Context): Density {
  return readCookie(ctx, COOKIE) === 'compact' ? 'compact' : 'comfortable';
}

export function setDensity(ctx: Context, density: Density): void {
  setCookie(ctx, COOKIE, density === 'compact' ? density : '', YEAR_MS);
}
