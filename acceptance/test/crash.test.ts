import { expect } from 'chai';
import { eventually } from './system/eventually.js';
import { getJob, postTest } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

describe('a worker that is killed during a job', function () {
  this.timeout(60_000);
  const system = useSystem({ API_TEST_JOB_MS: '2000', WORKER_SERVER_TIMEOUT_MS: '5000' });
  let api: Service;

  before(async () => {
    api = await system().start('api');
  });

  it('loses nothing: the job runs again on another worker and is done with its second attempt', async () => {
    const doomed = await system().start('worker');
    const { location } = await postTest(api.url);
    const first = await eventually(async () => {
      const job = await getJob(location);
      return job.state === 'processing' ? job : null;
    });
    await doomed.end('SIGKILL');
    await system().start('worker');

    const done = await eventually(async () => {
      const job = await getJob(location);
      return job.state === 'done' ? job : null;
    }, 30_000);
    expect(done?.attempt).to.equal(2);
    expect(done?.serverId).to.not.equal(first?.serverId);
  });
});
