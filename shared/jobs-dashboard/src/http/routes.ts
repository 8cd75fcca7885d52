import { Router, type RouterContext } from '@koa/router';
import { auditPage } from '../pages/audit.js';
import { batchPage } from '../pages/batch.js';
import { batchesPage } from '../pages/batches.js';
import { bulkConfirmPage } from '../pages/bulk-confirm.js';
import { bulkOperationPage } from '../pages/bulk-operation.js';
import { bulkPage } from '../pages/bulk.js';
import { errorsPage } from '../pages/errors.js';
import { helpPage } from '../pages/help.js';
import { jobLogPage } from '../pages/job-log.js';
import { jobPage } from '../pages/job.js';
import { jobsPage } from '../pages/jobs.js';
import { overviewPage } from '../pages/overview.js';
import type { PageContext, PageHandler } from '../pages/page.js';
import { queuePage } from '../pages/queue.js';
import { queuesPage } from '../pages/queues.js';
import { recurringJobPage } from '../pages/recurring-job.js';
import { recurringPage } from '../pages/recurring.js';
import { serverPage } from '../pages/server.js';
import { serversPage } from '../pages/servers.js';
import { withDeadline } from '../reading/deadline.js';
import type { PageAnswer } from './page-answer.js';
import { notFound, Problem } from './problem.js';
import { visitIn } from './visit.js';

/** Every page and its path inside the dashboard. */
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
  '/batches': batchesPage,
  '/batches/:batch': batchPage,
  '/errors': errorsPage,
  '/servers': serversPage,
  '/servers/:server': serverPage,
  '/audit': auditPage,
  '/help': helpPage,
};

/** Routes requests to the pages. */
export function pageRouter(prefix: string, context: PageContext, answer: PageAnswer): Router {
  const router = new Router({ prefix });
  for (const [path, handler] of Object.entries(pages)) {
    router.get(path, async (ctx) => {
      const visit = visitIn(ctx);
      const query = new URLSearchParams(ctx.querystring);
      const request = { params: ctx.params, query, viewer: visit.viewer };
      const page = await withDeadline(handler(request, context), context.readTimeoutMs);
      await answer.send(ctx, visit, page);
    });
  }
  return router;
}

/** What to throw where no route has answered. */
export function unrouted(ctx: RouterContext): Problem {
  const allowed = new Set(ctx.matched?.flatMap(({ methods }) => methods));
  if (allowed.size === 0) return notFound('There is no such page', `Nothing is at ${ctx.path}.`);
  return new Problem({
    status: 405,
    title: 'Not like this',
    text: `This page cannot be asked for with ${ctx.method}.`,
    headers: { Allow: [...allowed].join(', ') },
  });
}
