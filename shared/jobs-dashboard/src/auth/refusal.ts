import type { Context } from 'koa';
import type { Authenticator } from './authenticator.js';
import { PasswordAuthenticator } from './password-authenticator.js';
import type { Layout } from '../http/layout.js';
import { Problem } from '../http/problem.js';
import { askToSignIn } from './sign-in.js';

/** Answers a request that the gate keeps out: with the sign-in form, where there is one. */
export function refuse(ctx: Context, authenticator: Authenticator, layout: Layout, inside: string): void {
  if (authenticator instanceof PasswordAuthenticator) {
    return askToSignIn(ctx, authenticator, layout, { next: pageOf(ctx, inside), wrong: false });
  }
  throw authenticator.denial === 'forbidden' ? forbidden : closed;
}

/** Where to go on: what was asked for, or the page above what cannot be asked for by a link. */
function pageOf({ method, search }: Context, inside: string): string {
  if (method === 'GET' || method === 'HEAD') return inside.slice(1) + search;
  return inside.slice(1, Math.max(1, inside.lastIndexOf('/')));
}

const forbidden = new Problem({
  status: 403,
  title: 'You may not look at this dashboard',
  text: 'The application that it belongs to does not let you in.',
});

const closed = new Problem({
  status: 403,
  title: 'This dashboard is closed',
  text:
    'Nobody has said yet who may look at it. Give it a password (DASHBOARD_PASSWORD), or an authorize function where ' +
    'it is mounted as a library. Until then it serves only clients on its own machine, outside production, without a proxy in between.',
});
