import type { Router, RouterContext } from '@koa/router';
import { jobStates } from '@longshore/jobs/storage';
import { withDeadline } from '../cache/deadline.js';
import { pathParameters } from '../http/address.js';
import { notFound, Problem } from '../http/problem.js';
import type { PageResponder } from '../shell/page-answer.js';
import type { Page, PageContext, PageHandler, Rejected } from '../shell/page.js';
import { requestContextOf } from '../shell/request-context.js';
import { auditPage } from './audit.js';
import { batchesPage, batchPage } from './batches.js';
import { bulkConfirmPage } from './bulk-confirm.js';
import { bulkOperationPage, bulkPage } from './bulk-operations.js';
import { errorsPage } from './errors.js';
import { incidentPage, incidentsPage } from './incidents.js';
import { jobLogPage } from './job-log.js';
import { logsPage } from './logs.js';
import { jobEditPage, newJobPage } from './job-form.js';
import { jobPage } from './job.js';
import { jobsPage } from './jobs.js';
import { overviewPage } from './overview.js';
import { queuePage, queuesPage } from './queues.js';
import { rulesPage } from './rules.js';
import { recurringJobPage, recurringPage } from './recurring.js';
import { serverPage, serversPage } from './servers.js';
import { setAsidePage } from './set-aside.js';
import { tenantsPage } from './tenants.js';
import { typePage } from './type.js';
import { typesPage } from './types.js';

/** The handlers of the pages with a form that is shown again if it is rejected, by the path to which it is sent. */
const formPages: Readonly<Record<string, PageHandler>> = {
  '/jobs/:target/edit': jobEditPage,
  '/jobs/:target/edit-and-retry': jobEditPage,
  '/enqueue': newJobPage,
};

/** The handlers of all pages, by path inside the dashboard. */
export const pages: Readonly<Record<string, PageHandler>> = {
  '/': overviewPage,
  '/jobs': jobsPage,
  '/new-job': newJobPage,
  '/jobs/:id': jobPage,
  '/jobs/:id/change': jobEditPage,
  '/jobs/:id/log': jobLogPage,
  '/logs': logsPage,
  '/bulk': bulkPage,
  '/bulk/confirm': bulkConfirmPage,
  '/bulk/:operation': bulkOperationPage,
  '/queues': queuesPage,
  '/queues/:queue': queuePage,
  '/recurring': recurringPage,
  '/recurring/:recurring': recurringJobPage,
  '/tenants': tenantsPage,
  '/types': typesPage,
  '/types/:type': typePage,
  '/batches': batchesPage,
  '/batches/:batch': batchPage,
  '/errors': errorsPage,
  '/servers': serversPage,
  '/servers/:server': serverPage,
  '/incidents': incidentsPage,
  '/incidents/:incident': incidentPage,
  '/rules': rulesPage,
  '/set-aside': setAsidePage,
  '/audit': auditPage,
  '/help': helpPage,
};

/** Serves all pages. Callers authenticate each request before it reaches the router. */
export function servePages(router: Router, context: PageContext, answer: PageResponder): void {
  for (const [path, handler] of Object.entries(pages)) {
    router.get(path, async (ctx) => {
      const requestContext = requestContextOf(ctx);
      const query = new URLSearchParams(ctx.querystring);
      const request = { params: pathParameters(path, ctx.params), query, viewer: requestContext.viewer };
      const page = await withDeadline(handler(request, context), context.readTimeoutMs);
      await answer.send(ctx, requestContext, page);
    });
  }
}

/** Shows the page of a rejected form with what was entered. Returns `false` if the form has no page of its own. */
export async function showAgain(
  ctx: RouterContext,
  path: string,
  rejected: Rejected,
  context: PageContext,
  answer: PageResponder,
): Promise<boolean> {
  const handler = formPages[path];
  if (handler === undefined) return false;
  const requestContext = requestContextOf(ctx);
  const query = new URLSearchParams(ctx.querystring);
  const { viewer } = requestContext;
  const page = await handler({ params: pathParameters(path, ctx.params), query, viewer, rejected }, context);
  await answer.send(ctx, requestContext, page);
  return true;
}

/**
 * Returns the error for a request that no route has answered: 405 if its path supports other methods, otherwise 404.
 */
export function unrouted(ctx: RouterContext): Problem {
  const allowed = new Set(ctx.matched?.flatMap(({ methods }) => methods));
  if (allowed.size === 0) return notFound('There is no such page', `There is nothing at ${ctx.path}.`);
  return new Problem({
    status: 405,
    title: 'Method not allowed',
    text: `This page does not support ${ctx.method}.`,
    headers: { Allow: [...allowed].join(', ') },
  });
}

async function helpPage(): Promise<Page> {
  return { title: 'Help', section: 'help', view: 'help', regions: [], data: { states: jobStates } };
}
