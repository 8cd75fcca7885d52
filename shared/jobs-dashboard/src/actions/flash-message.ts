import type { Context } from 'koa';
import type { Authenticator } from '../auth/authenticator.js';
import type { Viewer } from '../auth/viewer.js';
import type { Action, ActionResult } from './action.js';
import { formatCount } from '../format/count.js';
import { actions } from './actions.js';

const PARAMETER = 'done';
const NOTHING_CHANGED = 'No change was needed.';

/**
 * Returns the path of the page to show after an action. If the operation has a message, adds a signed parameter that
 * identifies it.
 */
export function redirectWithFlash(
  { next, changed, record }: Pick<ActionResult, 'next' | 'changed' | 'record'>,
  { path, operation }: Action,
  sign: (message: string) => string,
): string {
  if (operation.message === undefined) return next;
  const flash = sign(`${changed ? (record.count ?? 1) : 0} ${path}`);
  return `${next}${next.includes('?') ? '&' : '?'}${PARAMETER}=${encodeURIComponent(flash)}`;
}

/** Returns the flash message from the page's URL; `null` if there is none or its signature is not valid. */
export function flashMessageOf(ctx: Context, authenticator: Authenticator, viewer: Viewer): string | null {
  const token = new URLSearchParams(ctx.querystring).get(PARAMETER);
  const message = token === null ? null : authenticator.readFlash(ctx, viewer, token);
  if (message === null) return null;
  const [count, path = ''] = message.split(' ', 2);
  if (count === '0') return NOTHING_CHANGED;
  const { operation } = actions.find((action) => action.path === path) ?? {};
  if (operation?.message === undefined) return null;
  if (operation.on !== 'jobs' || count === '1') return operation.message;
  return `${operation.message} With its dependents, ${formatCount({ count: Number(count), exact: true })} jobs changed.`;
}
