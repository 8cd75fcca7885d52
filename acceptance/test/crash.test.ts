import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { type ControllableJobs, createControllableJobs } from './system/held-job.js';
import { enqueue, getJob } from './system/jobs.js';
import { useSystem } from './system/system.js';

describe('a worker that is killed during a job', () => {
  const system = useSystem({ WORKER_SERVER_TIMEOUT_MS: '5000' });
  let held: ControllableJobs;

  before(async () => {
    held = await createControllableJobs();
  });
  after(() => held.remove());

  it('loses nothing: the job runs again on another worker and is done with its second attempt', async () => {
    const env = { LONGSHORE_APP: held.application };
    const api = await system().start('api', env);
    const doomed = await system().start('worker', env);
    const location = await enqueue(api.url, 'held');
    const first = await eventually(async () => {
      const job = await getJob(location);
      return job.state === 'processing' ? job : null;
    });
    await doomed.end('SIGKILL');
    await held.finish();
    await system().start('worker', env);

    const done = await eventually(async () => {
      const job = await getJob(location);
      return job.state === 'done' ? job : null;
    });
    expect(done?.attempt).to.equal(2);
    expect(done?.serverId).to.not.equal(first?.serverId);
  });
});
