import Router from '@koa/router';
import type { JobClient } from '@longshore/jobs';
import { type Admission, requireCaller } from '@longshore/resources';
import { testJob } from '@longshore/service';
import { type ApiConfig, rootUrlOf } from './config.js';

/** `POST /test`: registers a job that takes its time, and answers at once. Needs the scope `write`, where any is needed. */
export function testRoute(client: JobClient, admission: Admission, config: ApiConfig): Router {
  const router = new Router({ sensitive: true, strict: true });
  router.post('/test', requireCaller(admission, 'write', testJob.queue), async (context) => {
    const { id } = await client.enqueue(testJob, { waitMs: config.TEST_JOB_MS });
    context.status = 202;
    context.set('location', `${rootUrlOf(config)}/api/v1/jobs/${id}`);
    context.type = 'text/plain';
    context.body = 'ok';
  });
  return router;
}
