import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import type { Layout } from './layout.js';
import { problemOf } from './problem.js';
import { findRequestContext, anonymous } from './request-context.js';
import { problemLinks } from './problem-links.js';

/**
 * Answers with an error page. Emits an unexpected error as an `error` event of the application.
 *
 * @param inside the requested path inside the dashboard, with a leading slash
 */
export function sendProblem(ctx: Context, layout: Layout, error: unknown, inside: string): void {
  const incident = randomUUID().slice(0, 8);
  const problem = problemOf(error, incident);
  if (problem.status === 500) {
    ctx.app.emit('error', new Error(`Dashboard, incident ${incident}`, { cause: error }), ctx);
  }
  const requestContext = findRequestContext(ctx) ?? anonymous;
  ctx.status = problem.status;
  ctx.set(problem.headers ?? {});
  ctx.remove('ETag');
  const ofAction = ctx.method === 'POST' || problem.status === 405;
  const ways = ofAction ? problemLinks(inside, problem.status === 404) : [];
  layout.send(ctx, 'problem', { ...requestContext, title: problem.title, problem, ways });
}
