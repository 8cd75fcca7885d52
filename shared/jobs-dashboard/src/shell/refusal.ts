import type { Context } from 'koa';
import type { Authenticator } from '../auth/authenticator.js';
import { SessionAuthenticator } from '../auth/session-authenticator.js';
import type { Layout } from './layout.js';
import { Problem } from '../http/problem.js';
import { askToSignIn } from './sign-in.js';

/**
 * Answers an unauthenticated request with the sign-in page.
 *
 * @throws {Problem} (403) if the dashboard has no sign-in page
 */
export function refuse(ctx: Context, authenticator: Authenticator, layout: Layout, inside: string): void {
  if (authenticator instanceof SessionAuthenticator) {
    return askToSignIn(ctx, authenticator, layout, { next: pageOf(ctx, inside), wrong: false });
  }
  throw authenticator.denial === 'forbidden' ? forbidden : closed;
}

/**
 * Returns the page to open after signing in: the requested page, or the page of the submitted form.
 */
function pageOf({ method, search }: Context, inside: string): string {
  if (method === 'GET' || method === 'HEAD') return inside.slice(1) + search;
  return inside.slice(1, Math.max(1, inside.lastIndexOf('/')));
}

const forbidden = new Problem({
  status: 403,
  title: 'You have no access to this dashboard',
  text: 'The application did not grant you access.',
});

const closed = new Problem({
  status: 403,
  title: 'This dashboard is closed',
  text:
    'Access to the dashboard has not been configured. Set a password (DASHBOARD_PASSWORD) or another way to sign in, or pass an ' +
    'authorize function if it is mounted in an application. Until then, only direct clients on the same machine have access, and nobody does in production.',
});
