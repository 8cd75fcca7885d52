import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { getJob, getJson, postTest, type EnqueueResponse } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

async function counts(api: Service): Promise<Record<string, number>> {
  const queue = await getJson<{ counts: Record<string, number> }>(`${api.url}/api/v1/queues/default`);
  return queue.counts;
}

describe('Postgres stopped and started again under load', () => {
  const system = useSystem({ API_TEST_JOB_MS: '20' }, { durable: true });
  let services: Service[];
  let api: Service;
  const answers: EnqueueResponse[] = [];
  const accepted = (): EnqueueResponse[] => answers.filter(({ status }) => status === 202);
  const untilAccepted = (count: number): Promise<number> =>
    eventually(
      () => accepted().length,
      (seen) => seen >= count,
    );

  before(async () => {
    api = await system().start('api');
    const others = ['worker', 'worker', 'dashboard'] as const;
    services = [api, ...(await Promise.all(others.map((name) => system().start(name))))];

    const over = new AbortController();
    const load = Array.from({ length: 4 }, async () => {
      while (!over.signal.aborted) answers.push(await postTest(api.url));
    });
    try {
      await untilAccepted(100);
      await system().postgres.stop();
      await eventually(
        () => answers.at(-1),
        (answer) => answer?.status !== 202,
      );
      await system().postgres.start();
      await untilAccepted(accepted().length + 100);
    } finally {
      over.abort();
      await Promise.all(load);
    }
  });

  it('leads to no responses but 202 and 503', () => {
    expect([...new Set(answers.map(({ status }) => status))].toSorted((a, b) => a - b)).to.deep.equal([
      202, 503,
    ]);
  });

  it('loses no accepted job: each is done', async () => {
    for (const { location } of accepted())
      await eventually(
        () => getJob(location),
        ({ state }) => state === 'done',
      );
  });

  it('leaves as many result files as done jobs, and no other jobs', async () => {
    const { done, ...others } = await eventually(
      () => counts(api),
      (now) => now['enqueued'] === 0 && now['processing'] === 0,
    );
    expect(new Set(Object.values(others))).to.deep.equal(new Set([0]));
    expect(done).to.equal((await readdir(system().results)).length);
  });

  it('ends no process', () => {
    expect(services.map((service) => service.ending())).to.deep.equal([null, null, null, null]);
  });
});
