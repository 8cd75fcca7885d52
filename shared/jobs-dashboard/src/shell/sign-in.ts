import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { Authenticator } from '../auth/authenticator.js';
import type { OpenIdProvider, SignInResult } from '../auth/openid-provider.js';
import type { Passwords } from '../auth/passwords.js';
import { SessionAuthenticator } from '../auth/session-authenticator.js';
import { Problem } from '../http/problem.js';
import { checkForm, readForm } from './form.js';
import type { Layout } from './layout.js';
import { sendProblem } from './problem-answer.js';
import { anonymous } from './request-context.js';

/**
 * Maximum length of the path to return to after signing in at a provider. Longer paths do not fit into the cookie;
 * signing in then leads to the overview.
 */
const MAX_NEXT = 1_500;

/** Serves the form with which people sign in, and what it sends. */
export function serveSignIn(router: Router, authenticator: SessionAuthenticator, layout: Layout): void {
  const { method } = authenticator;
  if (method.kind === 'password') routePasswords(router, authenticator, method.passwords, layout);
  else routeProvider(router, authenticator, method.provider, layout);

  router.post('/sign-out', readForm('8kb'), (ctx) => {
    checkForm(ctx, authenticator, null);
    authenticator.endSession(ctx);
    redirect(ctx, 303, layout.links(ctx)(''));
  });
}

function routePasswords(
  router: Router,
  authenticator: SessionAuthenticator,
  passwords: Passwords,
  layout: Layout,
): void {
  router.get('/sign-in', (ctx) => redirect(ctx, 303, layout.links(ctx)('')));

  router.post('/sign-in', readForm('8kb'), async (ctx) => {
    const form = checkForm(ctx, authenticator, null);
    const next = pathInside(form.get('next') ?? '');
    const name = passwords.named ? (form.get('name') ?? '') : '';
    const viewer = await passwords.check(ctx, name, form.get('password') ?? '');
    if (viewer === null) return askToSignIn(ctx, authenticator, layout, { next, wrong: true, name });
    authenticator.startSession(ctx, viewer);
    redirect(ctx, 303, layout.links(ctx)(next));
  });
}

function routeProvider(
  router: Router,
  authenticator: SessionAuthenticator,
  provider: OpenIdProvider,
  layout: Layout,
): void {
  const { signedTokens } = authenticator;

  router.get('/sign-in', async (ctx) => {
    const next = pathInside(ctx.URL.searchParams.get('next') ?? '');
    const page = provider.begin(ctx, signedTokens, next.length > MAX_NEXT ? '' : next);
    redirect(ctx, 302, await page.catch((error: unknown) => failed(ctx, authenticator, error)));
  });

  // The redirect URI that is registered with the provider.
  router.get('/signed-in', async (ctx) => {
    const result = await provider
      .complete(ctx, signedTokens)
      .catch((error: unknown) => failed(ctx, authenticator, error));
    if (result.kind === 'expired') return redirect(ctx, 303, layout.links(ctx)(''));
    if (result.kind !== 'in') {
      const problem = problemOf(result);
      authenticator.record(ctx, 'sign-in failed', null, problem.content.text);
      // Not thrown, because a problem with status 403 would be recorded again, as a refusal.
      return sendProblem(ctx, layout, problem, '/signed-in');
    }
    authenticator.startSession(ctx, result.viewer);
    redirect(ctx, 303, layout.links(ctx)(result.next));
  });
}

/**
 * Answers with 401 and the sign-in page. `next` is the page to open after signing in, as a path inside the dashboard.
 * If `wrong` is `true`, the page reports a wrong password. `name` is the initial content of the name field.
 */
function askToSignIn(
  ctx: Context,
  authenticator: SessionAuthenticator,
  layout: Layout,
  { next, wrong, name = '' }: { next: string; wrong: boolean; name?: string },
): void {
  const { method } = authenticator;
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Session realm="Longshore dashboard"');
  layout.send(ctx, 'sign-in', {
    title: 'Sign in',
    ...anonymous,
    formToken: () => authenticator.formToken(ctx, null),
    method: method.kind,
    named: method.kind === 'password' && method.passwords.named,
    name,
    next,
    wrong,
  });
}

function failed(ctx: Context, authenticator: SessionAuthenticator, error: unknown): never {
  authenticator.record(ctx, 'sign-in failed', null, error instanceof Error ? error.message : String(error));
  throw new Problem({
    status: 502,
    title: 'Sign-in failed',
    text: 'The sign-in provider could not be reached, or its response was invalid. The reason is in the log. Go back and try again.',
  });
}

function problemOf(result: Exclude<SignInResult, { kind: 'in' | 'expired' }>): Problem {
  if (result.kind === 'refused') {
    const text = `The sign-in provider reported: ${result.why}`;
    return new Problem({ status: 403, title: 'Sign-in was refused', text });
  }
  return new Problem({
    status: 403,
    title: 'You have no access to this dashboard',
    text: `You signed in as ${result.name}, but have none of the roles that give access. Ask the people who run this dashboard to give you one.`,
  });
}

/** Returns the path and query of `next` without the origin, so that signing in never leads to another site. */
function pathInside(next: string): string {
  if (!URL.canParse(next, 'http://dashboard/')) return '';
  const { pathname, search } = new URL(next, 'http://dashboard/');
  return pathname.slice(1) + search;
}

function redirect(ctx: Context, status: 302 | 303, location: string): void {
  ctx.status = status;
  ctx.set('Location', location);
}

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
