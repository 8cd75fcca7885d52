import type { Router, RouterContext } from '@koa/router';
import { auditPage } from './audit/page.js';
import { batchPage } from './batch/page.js';
import { batchesPage } from './batches/page.js';
import { bulkConfirmPage } from './bulk-confirm/page.js';
import { bulkOperationPage } from './bulk-operation/page.js';
import { bulkPage } from './bulk-operations/page.js';
import { errorsPage } from './errors/page.js';
import { helpPage } from './help/page.js';
import { jobLogPage } from './job-log/page.js';
import { jobPage } from './job/page.js';
import { jobsPage } from './jobs/page.js';
import { overviewPage } from './overview/page.js';
import type { PageContext, PageHandler } from './page.js';
import { queuePage } from './queue/page.js';
import { queuesPage } from './queues/page.js';
import { recurringJobPage } from './recurring-job/page.js';
import { recurringPage } from './recurring/page.js';
import { serverPage } from './server/page.js';
import { setAsidePage } from './set-aside/page.js';
import { serversPage } from './servers/page.js';
import { typePage } from './type/page.js';
import { typesPage } from './types/page.js';
import { withDeadline } from '../cache/deadline.js';
import { pathParameters } from '../http/address.js';
import type { PageResponder } from '../shell/page-answer.js';
import { notFound, Problem } from '../http/problem.js';
import { requestContextOf } from '../shell/request-context.js';

/** The handlers of all pages, by path inside the dashboard. */
export const pages: Readonly<Record<string, PageHandler>> = {
  '/': overviewPage,
  '/jobs': jobsPage,
  '/jobs/:id': jobPage,
  '/jobs/:id/log': jobLogPage,
  '/bulk': bulkPage,
  '/bulk/confirm': bulkConfirmPage,
  '/bulk/:operation': bulkOperationPage,
  '/queues': queuesPage,
  '/queues/:queue': queuePage,
  '/recurring': recurringPage,
  '/recurring/:recurring': recurringJobPage,
  '/types': typesPage,
  '/types/:type': typePage,
  '/batches': batchesPage,
  '/batches/:batch': batchPage,
  '/errors': errorsPage,
  '/servers': serversPage,
  '/servers/:server': serverPage,
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
