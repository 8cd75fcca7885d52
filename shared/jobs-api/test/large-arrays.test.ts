import { longestTurn, threadedRequest } from '@longshore/test-support';
import { expect } from 'chai';
import { JobsApiUnderTest, openPostgres } from './support/jobs-api-under-test.js';

/** The longest turn of the event loop that a request may take, see {@link longestTurn}. */
const bound = 3;
/** A PUT keeps so many objects at once that a garbage collection can be its longest turn. */
const putBound = 4.5;

describe('A request for 10 000 jobs', () => {
  const api = new JobsApiUnderTest(openPostgres, {});
  before(() => api.start());
  after(() => api.stop());

  const jobs = Array.from({ length: 10_000 }, (_, n) => ({
    name: 'add',
    args: { a: n, b: 2 },
    queue: 'many',
  }));

  const scheduled = jobs.map((job) => ({ ...job, delayMs: 3_600_000 }));

  for (const [what, method, path, body] of [
    ['an array', 'POST', '/jobs', async () => jobs],
    ['a batch', 'POST', '/batches', async () => ({ jobs })],
    ['a PUT', 'PUT', '/jobs', async () => edits()],
  ] as const)
    it(`does not keep others waiting: ${what}`, async () => {
      const text = JSON.stringify(await body());
      const send = (): Promise<number> => threadedRequest(method, api.url + path, text);
      const status = await send(); // also a warm-up, because code is compiled during the first request
      expect(status).to.equal(method === 'PUT' ? 200 : 201);
      const limit = method === 'PUT' ? putBound : bound;
      expect(await longestTurn(send, limit)).to.be.below(limit);
    });

  async function edits(): Promise<object[]> {
    const { items } = await api.post('/jobs', scheduled);
    return items.map(({ id, args }) => ({ id, args, queue: 'many', priority: 3 }));
  }
});
