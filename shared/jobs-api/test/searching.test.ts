import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { type ItemBody, onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Searching jobs over HTTP', (api) => {
  const idsAt = async (path: string): Promise<string[]> => (await api.get(path)).items.map(({ id }) => id);

  const twoOf = async (queue: string): Promise<[ItemBody, ItemBody]> => [
    await api.enqueue(queue, { tags: ['Express', 'to Rome'] }),
    await api.enqueue(queue, { tags: ['express'] }),
  ];

  it('GET /jobs?q= finds jobs in which every word appears, whatever the case', async () => {
    const queue = api.newName();
    const [first, second] = await twoOf(queue);
    expect(await idsAt(`/jobs?queue=${queue}&q=EXPRESS`)).to.have.members([first.id, second.id]);
    expect(await idsAt(`/jobs?queue=${queue}&q=rome+express`)).to.deep.equal([first.id]);
    expect(await idsAt(`/jobs?queue=${queue}&q=paris`)).to.deep.equal([]);
  });

  it('GET /jobs?q= looks at the arguments', async () => {
    const queue = api.newName();
    const { id } = await api.enqueue(queue, { args: { a: 48_151, b: 2 } });
    await api.enqueue(queue);
    expect(await idsAt(`/jobs?queue=${queue}&q=48151`)).to.deep.equal([id]);
  });

  it('GET /jobs?q= gives the newest first, a count, and links that keep the search', async () => {
    const queue = api.newName();
    const [first, second] = await twoOf(queue);
    const page = await api.get(`/jobs?queue=${queue}&q=express&limit=1`);
    expect(page.items.map(({ id }) => id)).to.deep.equal([[first.id, second.id].toSorted()[1]]);
    expect(page.headers['x-total-count']).to.equal('2');
    expect(page.headers['link']).to.match(/q=express&limit=1&after=[^>]+>; rel="next"/);
  });

  it('GET /queues/{queue}/jobs?q= searches in the queue only', async () => {
    const [queue, other] = [api.newName(), api.newName()];
    const [here] = [
      await api.enqueue(queue, { tags: ['needle'] }),
      await api.enqueue(other, { tags: ['needle'] }),
    ];
    expect(await idsAt(`/queues/${queue}/jobs?q=needle`)).to.deep.equal([here.id]);
    expect(await idsAt(`/queues/${queue}/jobs/search/needle`)).to.deep.equal([here.id]);
  });

  it('GET /jobs/search/{keyword} is q by path', async () => {
    const queue = api.newName();
    const [first] = await twoOf(queue);
    expect(await idsAt(`/jobs/search/to%20rome?queue=${queue}`)).to.deep.equal([first.id]);
  });

  it('a search for nothing is 400', async () => {
    for (const path of ['/jobs?q=', '/jobs?q=+', '/jobs/search/%20'])
      expect([path, (await api.get(path)).codes]).to.deep.equal([path, [40003]]);
  });

  it('GET /jobs?error= finds what the latest error says', async () => {
    const queue = api.newName();
    const { id } = (await api.post('/jobs', { name: 'fail', queue })).item;
    await api.withServer(queue, async () => {
      await eventually(async () => (await api.get(`/jobs/${id}`)).item['state'] === 'failed');
    });
    expect(await idsAt(`/jobs?queue=${queue}&error=error:+AS+IT`)).to.deep.equal([id]);
    expect(await idsAt(`/jobs?queue=${queue}&error=other`)).to.deep.equal([]);
  });

  it('DELETE /jobs?q= forgets the finished jobs that it finds, and no others', async () => {
    const queue = api.newName();
    const [first, second] = await twoOf(queue);
    for (const { id } of [first, second]) await api.put(`/jobs/${id}/cancel`);
    expect((await api.delete(`/jobs?queue=${queue}&q=rome`)).status).to.equal(204);
    expect(await idsAt(`/jobs?queue=${queue}`)).to.deep.equal([second.id]);
  });
});
