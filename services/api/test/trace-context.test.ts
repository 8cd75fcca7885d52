import { defineJob, handleJob, JobClient, JobServer, MemoryStorage } from '@longshore/jobs';
import { eventually, httpClient, patientServer, serve } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { traceJobs, traceRequests } from '../src/api-service.js';

const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

/**
 * Sends a request that enqueues a job, with `header` as its `traceparent`. Returns the `traceparent` that the job's
 * handler receives.
 */
async function seenByHandler(header: string): Promise<unknown> {
  const storage = new MemoryStorage();
  const client = new JobClient(storage, { middleware: [traceJobs] });
  const traced = defineJob({ name: 'traced' });
  const seen: unknown[] = [];
  const handler = handleJob(traced, ({ job }) => void seen.push(job.traceparent));
  const jobServer = new JobServer({ storage, handlers: [handler], ...patientServer });
  const app = new Koa();
  app.use(traceRequests);
  app.use(async (context) => {
    context.body = await client.enqueue(traced, {});
  });
  const handle = app.callback();
  const server = await serve((request, response) => void handle(request, response));
  await jobServer.start();
  try {
    await httpClient(server.url).request('POST', '/', { headers: { traceparent: header } });
    await eventually(() => seen.length > 0);
    return seen[0];
  } finally {
    await jobServer.stop();
    await server.close();
    await storage.close();
  }
}

describe('The traceparent of a request', () => {
  it('is passed to the handlers of the jobs that it enqueues', async () => {
    expect(await seenByHandler(traceparent)).to.equal(traceparent);
  });

  it('is ignored if it is malformed', async () => {
    expect(await seenByHandler('00-0-0-00')).to.equal(null);
  });
});
