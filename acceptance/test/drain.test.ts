import { expect } from 'chai';
import { eventually } from './system/eventually.js';
import { getJob, getJson, postTest } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

describe('a worker that is asked to stop', function () {
  this.timeout(90_000);
  const system = useSystem({ API_TEST_JOB_MS: '1000', WORKER_CONCURRENCY: '1' });
  let api: Service;
  let ending: string;
  let first: string;
  let second: string;

  before(async () => {
    api = await system().start('api');
    const worker = await system().start('worker');
    first = (await postTest(api.url)).location;
    await eventually(async () => (await getJob(first)).state === 'processing');
    second = (await postTest(api.url)).location;
    ending = await worker.end('SIGTERM');
  });

  it('exits with code 0', () => {
    expect(ending).to.equal('exit 0');
  });

  it('finishes its running job', async () => {
    const { state, attempt } = await getJob(first);
    expect([state, attempt]).to.deep.equal(['done', 1]);
  });

  it('leaves the other jobs to other workers', async () => {
    const { state, attempt } = await getJob(second);
    expect([state, attempt]).to.deep.equal(['enqueued', 0]);
  });

  it('is no longer listed as a server', async () => {
    expect(await getJson(`${api.url}/api/v1/servers`)).to.deep.equal([]);
  });
});
