import { createHash } from 'node:crypto';
import Router from '@koa/router';
import type { EnqueueOptions, JobClient } from '@longshore/jobs';
import { type AccessControl, apiError, type Principal, requireCaller } from '@longshore/resources';
import { testJob } from '@longshore/service';
import type Koa from 'koa';
import { type ApiConfig, rootUrlOf } from './config.js';

/**
 * `POST /test`: enqueues a job that takes `API_TEST_JOB_MS`, and responds without waiting for the job to finish. If the
 * API requires credentials, callers need the `write` scope.
 */
export function testRoute(client: JobClient, access: AccessControl, config: ApiConfig): Router {
  const router = new Router({ strict: true });
  router.post('/test', requireCaller(access, 'write', testJob.queue), async (context) => {
    const args = { waitMs: config.API_TEST_JOB_MS };
    const { id, created } = await client.enqueue(testJob, args, keyOf(context));
    if (!created) context.set('idempotent-replayed', 'true');
    context.status = 202;
    context.set('location', `${rootUrlOf(config)}/api/v1/jobs/${id}`);
    context.type = 'text/plain';
    context.body = 'ok';
  });
  return router;
}

/**
 * Derives the job's idempotency key from the `Idempotency-Key` header and the caller. Returns an empty object if the
 * header is missing.
 *
 * @throws {ApiError} 40003 if the header is malformed
 */
function keyOf(context: Koa.Context): Pick<EnqueueOptions, 'idempotencyKey'> {
  const idempotencyKey = context.get('idempotency-key');
  if (idempotencyKey === '') return {};
  if (!/^[\x21-\x7e]{1,255}$/.test(idempotencyKey))
    throw apiError(40003, 'Idempotency-Key must be 1 to 255 visible ASCII characters');
  const caller = (context.state['principal'] as Principal | undefined)?.name ?? '';
  const digest = createHash('sha256').update(`${caller} ${idempotencyKey}`).digest('base64url');
  return { idempotencyKey: `POST /test ${digest}` };
}
