import { threadedRequest, turnsDuring } from '@longshore/test-support';
import { expect } from 'chai';
import { JobsApiUnderTest, openPostgres } from './support/jobs-api-under-test.js';

/** How often a request for 10,000 jobs must at least let other requests in, see {@link turnsDuring}. */
const minTurns = 5;

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
    it(`lets other requests in while it is carried out: ${what}`, async () => {
      const text = JSON.stringify(await body());
      const send = (): Promise<number> => threadedRequest(method, api.url + path, text);
      let status = 0;
      const turns = await turnsDuring(async () => {
        status = await send();
      });
      expect(status).to.equal(method === 'PUT' ? 200 : 201);
      expect(turns).to.be.at.least(minTurns);
    });

  it('lets other requests in while it is carried out: jobs with a hundred parents each', async () => {
    const dependent = jobs.slice(0, 1_900).map((job, n) => {
      const parents = Array.from({ length: Math.min(n, 100) }, (_, back) => n - 1 - back);
      return parents.length === 0 ? job : { ...job, after: { parents } };
    });
    let status = 0;
    const turns = await turnsDuring(async () => {
      status = await threadedRequest('POST', `${api.url}/jobs`, JSON.stringify(dependent));
    });
    expect(status).to.equal(201);
    // One turn for each statement alone: the dependencies are inserted in chunks.
    expect(turns).to.be.at.least((1_900 * 100) / 5_000);
  });

  it('lets other requests in while stored texts are compared: ten long words and 2 000 similar tags', async () => {
    const tagged = jobs.slice(0, 2_000).map((job, n) => ({ ...job, tags: [longWord(n)] }));
    expect((await api.post('/jobs', tagged)).status).to.equal(201);
    const words = Array.from({ length: 10 }, (_, n) => longWord(n + 10_000)).join(' ');
    let status = 0;
    const turns = await turnsDuring(async () => {
      status = await threadedRequest('GET', `${api.url}/jobs?q=${encodeURIComponent(words)}`);
    });
    expect(status).to.equal(200);
    expect(turns).to.be.at.least(minTurns);
  });

  /** Returns a word of 49 letters that differs from others only at its end, so that comparing them takes longest. */
  function longWord(n: number): string {
    const end = [n, n / 26, n / 676, n / 17_576].map((part) =>
      String.fromCodePoint(97 + (Math.floor(part) % 26)),
    );
    return 'longshore'.repeat(5) + end.join('');
  }

  async function edits(): Promise<object[]> {
    const { items } = await api.post('/jobs', scheduled);
    return items.map(({ id, args }) => ({ id, args, queue: 'many', priority: 3 }));
  }
});
