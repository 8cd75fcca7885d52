import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { type ControllableJobs, createControllableJobs } from './system/held-job.js';
import { enqueue, getJob, getJson } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

describe('a worker that is asked to stop', () => {
  const system = useSystem({ WORKER_CONCURRENCY: '1' });
  let held: ControllableJobs;
  let api: Service;
  let ending: string;
  let first: string;
  let second: string;

  before(async () => {
    held = await createControllableJobs();
    const env = { LONGSHORE_APP: held.application };
    api = await system().start('api', env);
    const worker = await system().start('worker', env);
    first = await enqueue(api.url, 'held');
    await eventually(
      () => getJob(first),
      ({ state }) => state === 'processing',
    );
    second = await enqueue(api.url, 'held');
    const ended = worker.end('SIGTERM');
    await eventually(
      () => worker.lines,
      (lines) => lines.some((line) => line.includes('"stopping"')),
    );
    await held.finish();
    ending = await ended;
  });
  after(() => held.remove());

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
