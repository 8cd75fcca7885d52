import { JobClient, defineJob, MemoryStorage } from '@longshore/jobs';
import { createResourceApi } from '@longshore/resources';
import { httpClient, serve } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { jobsApi } from '../src/index.js';

const heavy = defineJob({ name: 'heavy' });

describe('Pages of jobs that carry a megabyte each', () => {
  const storage = new MemoryStorage();
  let server: Awaited<ReturnType<typeof serve>>;
  before(async () => {
    const client = new JobClient(storage);
    const text = 'x'.repeat(1_000_000);
    await client.enqueueMany(Array.from({ length: 10 }, () => ({ definition: heavy, args: { text } })));
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({ storage, client, definitions: [heavy] }),
        baseUrl: 'http://localhost',
        log: { incident: () => undefined },
      }),
    );
    const handle = app.callback();
    server = await serve((request, response) => void handle(request, response));
  });
  after(() => server.close());

  const page = async (
    path: string,
  ): Promise<{ ids: string[]; next: string | undefined; prev: string | undefined }> => {
    const answer = await httpClient(server.url).get(path);
    expect(answer.status).to.equal(200);
    const linkTo = (relation: string): string | undefined =>
      new RegExp(`<http://localhost([^>]+)>; rel="${relation}"`).exec(String(answer.headers['link']))?.[1];
    return {
      ids: (answer.json() as { id: string }[]).map(({ id }) => id),
      next: linkTo('next'),
      prev: linkTo('prev'),
    };
  };

  it('have fewer than were asked for, and together all of them', async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    for (let next: string | undefined = '/api/v1/jobs?limit=8'; next !== undefined;) {
      const answer = await page(next);
      seen.push(...answer.ids);
      sizes.push(answer.ids.length);
      next = answer.next;
    }
    expect([sizes, new Set(seen).size]).to.deep.equal([[4, 4, 2], 10]);
  });

  it('lead back as they lead on', async () => {
    const first = await page('/api/v1/jobs?limit=8');
    const second = await page(first.next ?? '');
    expect((await page(second.prev ?? '')).ids).to.deep.equal(first.ids);
  });

  it('have all jobs if their documents are not asked for', async () => {
    expect((await page('/api/v1/jobs?limit=10&fields=id')).ids).to.have.lengthOf(10);
  });
});
