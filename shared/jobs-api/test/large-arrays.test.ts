import { longestTurn } from '@longshore/test-support';
import { expect } from 'chai';
import { JobsApiUnderTest, openPostgres } from './support/jobs-api-under-test.js';

/** The longest turn of the event loop that a request may take, see {@link longestTurn}. */
const bound = 2.5;

describe('A request for 10 000 jobs', () => {
  const api = new JobsApiUnderTest(openPostgres, {});
  before(() => api.start());
  after(() => api.stop());

  const jobs = Array.from({ length: 10_000 }, (_, n) => ({
    name: 'add',
    args: { a: n, b: 2 },
    queue: 'many',
  }));

  for (const [what, path, body] of [
    ['an array', '/jobs', jobs],
    ['a batch', '/batches', { jobs }],
  ] as const)
    it(`does not keep others waiting: ${what}`, async () => {
      await api.post(path, body); // warm-up, because code is compiled during the first request
      let status = 0;
      const longest = await longestTurn(async () => {
        ({ status } = await api.post(path, body));
      }, bound);
      expect(status).to.equal(201);
      expect(longest).to.be.below(bound);
    });

  it('does not keep others waiting: a PUT', async () => {
    const scheduled = await api.post(
      '/jobs',
      jobs.map((job) => ({ ...job, delayMs: 3_600_000 })),
    );
    const edits = scheduled.items.map(({ id, args }) => ({ id, args, queue: 'many', priority: 3 }));
    await api.put('/jobs', edits);
    let status = 0;
    const longest = await longestTurn(async () => {
      ({ status } = await api.put('/jobs', edits));
    }, bound);
    expect(status).to.equal(200);
    expect(longest).to.be.below(bound);
  });
});
