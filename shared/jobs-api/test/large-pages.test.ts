import { defineJob, JobClient, JobEvents, MemoryStorage } from '@longshore/jobs';
import { createResourceApi } from '@longshore/resources';
import { httpClient, serve } from '@longshore/test-support';
import { expect } from 'chai';
import Koa from 'koa';
import { jobsApi } from '../src/index.js';

const heavy = defineJob({ name: 'heavy' });
const light = defineJob({ name: 'light', queue: 'light' });

describe('Pages of jobs that carry a megabyte each', () => {
  const storage = new MemoryStorage();
  let parent: string;
  let server: Awaited<ReturnType<typeof serve>>;
  before(async () => {
    const client = new JobClient(storage);
    const text = 'x'.repeat(1_000_000);
    await client.enqueueMany(Array.from({ length: 10 }, () => ({ definition: heavy, args: { text } })));
    const root = await client.enqueue(light, {});
    parent = root.id;
    await client.enqueueMany(
      Array.from({ length: 9 }, () => ({
        definition: heavy,
        args: { text },
        options: { after: { parents: [root.id] }, queue: 'after' },
      })),
    );
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({ storage, client, events: new JobEvents(storage), definitions: [heavy] }),
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
    for (let next: string | undefined = '/api/v1/jobs?queue=default&limit=8'; next !== undefined;) {
      const answer = await page(next);
      seen.push(...answer.ids);
      sizes.push(answer.ids.length);
      next = answer.next;
    }
    expect([sizes, new Set(seen).size]).to.deep.equal([[4, 4, 2], 10]);
  });

  for (const sort of ['', '?sort=-id']) {
    it(`have fewer continuations than were asked for, and together all of them${sort}`, async () => {
      const sizes: number[] = [];
      const seen = new Set<string>();
      let next: string | undefined = `/api/v1/jobs/${parent}/continuations${sort}`;
      while (next !== undefined) {
        const answer = await page(next);
        sizes.push(answer.ids.length);
        for (const id of answer.ids) seen.add(id);
        next = answer.next;
      }
      expect([sizes, seen.size]).to.deep.equal([[4, 4, 1], 9]);
    });
  }

  it('lead back from continuations as they lead on', async () => {
    const first = await page(`/api/v1/jobs/${parent}/continuations`);
    const second = await page(first.next ?? '');
    expect((await page(second.prev ?? '')).ids).to.deep.equal(first.ids);
  });

  it('lead back as they lead on', async () => {
    const first = await page('/api/v1/jobs?queue=default&limit=8');
    const second = await page(first.next ?? '');
    expect((await page(second.prev ?? '')).ids).to.deep.equal(first.ids);
  });

  it('have all jobs if their documents are not asked for', async () => {
    expect((await page('/api/v1/jobs?name=heavy&queue=default&limit=10&fields=id')).ids).to.have.lengthOf(10);
  });
});
