import { Router } from '@koa/router';
import type { Context } from 'koa';
import type { PasswordAuthenticator } from './password-authenticator.js';
import { checkForm, readForm } from '../http/form.js';
import type { Layout } from '../http/layout.js';
import { Problem } from '../http/problem.js';
import { anonymous } from '../http/request-context.js';

/** Routes the forms for signing in and out. Both answer with 303. */
export function signInRouter(prefix: string, authenticator: PasswordAuthenticator, layout: Layout): Router {
  const router = new Router({ prefix });
  const read = readForm('8kb');

  router.get('/sign-in', (ctx) => seeOther(ctx, layout.links(ctx)('')));

  router.post('/sign-in', read, (ctx) => {
    const form = checkForm(ctx, authenticator, null);
    const next = pathInside(form.get('next') ?? '');
    const check = authenticator.checkPassword(ctx, form.get('password') ?? '');
    if (check.kind === 'wait') throw tooManyTries(check.waitMs);
    if (check.kind === 'wrong') return askToSignIn(ctx, authenticator, layout, { next, wrong: true });
    authenticator.startSession(ctx);
    seeOther(ctx, layout.links(ctx)(next));
  });

  router.post('/sign-out', read, (ctx) => {
    checkForm(ctx, authenticator, null);
    authenticator.endSession(ctx);
    seeOther(ctx, layout.links(ctx)(''));
  });

  return router;
}

/**
 * Answers 401 with the sign-in form; `next` is the page to open afterwards, as a path inside the dashboard.
 */
export function askToSignIn(
  ctx: Context,
  authenticator: PasswordAuthenticator,
  layout: Layout,
  { next, wrong }: { next: string; wrong: boolean },
): void {
  ctx.status = 401;
  ctx.set('WWW-Authenticate', 'Session realm="Longshore dashboard"');
  layout.send(ctx, 'sign-in', {
    title: 'Sign in',
    ...anonymous,
    formToken: () => authenticator.formToken(ctx, null),
    next,
    wrong,
  });
}

function tooManyTries(waitMs: number): Problem {
  const seconds = Math.ceil(waitMs / 1_000);
  return new Problem({
    status: 429,
    title: 'Too many wrong passwords',
    text: `Wait ${seconds} seconds, then try again.`,
    headers: { 'Retry-After': String(seconds) },
  });
}

/** Returns the path and query of `next`, never of another site. */
function pathInside(next: string): string {
  if (!URL.canParse(next, 'http://dashboard/')) return '';
  const { pathname, search } = new URL(next, 'http://dashboard/');
  return pathname.slice(1) + search;
}

/** Unlike `ctx.redirect`, keeps the link relative. */
function seeOther(ctx: Context, location: string): void {
  ctx.status = 303;
  ctx.set('Location', location);
}
