import { randomUUID } from 'node:crypto';
import type { Context } from 'koa';
import type { Layout } from './layout.js';
import { problemOf } from '../http/problem.js';
import { anonymous, findRequestContext } from './request-context.js';
import { sections } from './page.js';

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

interface ProblemLink {
  /** The linked page, as a path inside the dashboard. */
  readonly path: string;
  readonly words: string;
}

const things: Readonly<Record<string, string>> = {
  jobs: 'the job',
  queues: 'the queue',
  recurring: 'the recurring job',
  batches: 'the batch',
  servers: 'the server',
  bulk: 'the operation',
  types: 'the job type',
};

/**
 * Returns the links for the error page of a failed action. One link leads back to the target or, for a set-aside item
 * or a new bulk action, to the list. If the target is gone, links lead to its history and, except for jobs, to its
 * section. Returns no links if the path is not the path of an action.
 *
 * @param inside the path of the action, such as `/queues/mail/pause`
 * @param gone whether the target does not exist
 */
function problemLinks(inside: string, gone: boolean): ProblemLink[] {
  const [, section = '', target = '', action] = inside.split('/');
  const thing = Object.hasOwn(things, section) ? things[section] : undefined;
  if (section === 'set-aside') return [{ path: 'set-aside', words: 'Set-aside items' }];
  if (section.startsWith('bulk-')) return [{ path: 'bulk', words: 'Bulk actions' }];
  if (thing === undefined || action === undefined) return [];
  if (!gone) return [{ path: `${section}/${target}`, words: `Back to ${thing}` }];
  const list = sections.find(({ name }) => name === section);
  return [
    { path: `audit?target=${target}`, words: 'History' },
    ...(list === undefined || section === 'jobs' ? [] : [{ path: list.path, words: list.word }]),
  ];
}
