import type { Context } from 'koa';
import type { Gate } from '../access/gate.js';
import type { Viewer } from '../access/viewer.js';
import type { Deed } from './action.js';
import { actions } from './actions.js';

const PARAMETER = 'done';
const NOTHING_CHANGED = 'It was so already: nothing was changed.';

/** Where to go on after a deed, with what that page says of it. */
export function nextWithReceipt(
  { next, changed = true }: Deed,
  path: string,
  seal: (deed: string) => string,
): string {
  if (actions[path as keyof typeof actions]?.said === undefined) return next;
  const sealed = seal(`${changed ? 'done' : 'unchanged'} ${path}`);
  return `${next}${next.includes('?') ? '&' : '?'}${PARAMETER}=${encodeURIComponent(sealed)}`;
}

/** What the page under answer has to say of the form that led to it, or `null`. */
export function saidOf(ctx: Context, gate: Gate, viewer: Viewer): string | null {
  const receipt = new URLSearchParams(ctx.querystring).get(PARAMETER);
  const deed = receipt === null ? null : gate.deedOf(ctx, viewer, receipt);
  if (deed === null) return null;
  const [outcome, path = ''] = deed.split(' ', 2);
  if (outcome === 'unchanged') return NOTHING_CHANGED;
  return actions[path as keyof typeof actions]?.said ?? null;
}
