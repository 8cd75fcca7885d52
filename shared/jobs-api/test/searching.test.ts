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

  it('GET /jobs?q= tolerates typos, and lists what contains the words first', async () => {
    const queue = api.newName();
    const exact = await api.enqueue(queue, { tags: ['refund'] });
    const similar = await api.enqueue(queue, { tags: ['refunt'] });
    await api.enqueue(queue, { tags: ['mail'] });
    expect(await idsAt(`/jobs?queue=${queue}&q=refund`)).to.deep.equal([exact.id, similar.id]);
    expect(await idsAt(`/jobs?queue=${queue}&q=rfund`)).to.deep.equal([exact.id]);
    expect(await idsAt(`/jobs/search/rfund?queue=${queue}`)).to.deep.equal([exact.id]);
  });

  it('GET /jobs?q= has a count and links that keep the search, with cursors if it is sorted', async () => {
    const queue = api.newName();
    const [first, second] = await twoOf(queue);
    const page = await api.get(`/jobs?queue=${queue}&q=express&limit=1`);
    expect(page.headers['x-total-count']).to.equal('2');
    expect(page.headers['link']).to.contain('q=express&limit=1&offset=1>; rel="next"');
    expect(page.headers['preference-applied']).to.equal(undefined);
    const sorted = await api.get(`/jobs?queue=${queue}&q=express&limit=1&sort=-createdAt`);
    const next = /v1([^>]*after=[^>]*)>; rel="next"/.exec(String(sorted.headers['link']))?.[1] ?? '';
    const ids = [...sorted.items, ...(await api.get(next)).items].map(({ id }) => id);
    expect(ids).to.deep.equal([first.id, second.id].toSorted().toReversed());
  });

  it('GET /jobs?q= combines with every filter', async () => {
    const filters = [
      'finishedAfter=2020-01-01',
      'finishedBefore=2100-01-01',
      'createdAfter=2020-01-01',
      'error=x',
    ];
    for (const filter of [...filters, 'state=done', 'tag=x', 'args.a=1']) {
      const { status } = await api.get(`/jobs?q=refund&${filter}`);
      expect([filter, status]).to.deep.equal([filter, 200]);
    }
  });

  it('q finds items of every collection by misspelt text', async () => {
    const queue = `${api.newName()}-invoices`;
    const { id } = await api.enqueue(queue);
    const schedule = { name: 'add', args: { a: 1, b: 2 }, cron: '0 3 * * *' };
    await api.post('/recurring-jobs', { ...schedule, id: `${queue}-nightly` });
    const batch = (await api.post('/batches', { name: `${queue} settlement`, jobs: [] })).item;
    const names = async (path: string, field: string): Promise<unknown[]> =>
      (await api.get(path)).items.map((item) => item[field]);
    expect(await names('/queues?q=invoces', 'name')).to.include(queue);
    expect(await names('/recurring-jobs?q=nighlty', 'id')).to.include(`${queue}-nightly`);
    expect(await names('/batches?q=setlement', 'id')).to.deep.equal([batch.id]);
    expect(await names('/job-definitions?q=fali', 'name')).to.deep.equal(['fail']);
    await api.withServer(queue, async () => {
      expect(await names('/servers?q=invoces', 'host')).to.deep.equal(['here']);
      await eventually(
        async () => (await api.get(`/jobs/${id}`)).item['state'],
        (state) => state === 'done',
      );
    });
    expect(await names(`/jobs/${id}/attempts?q=don`, 'outcome')).to.deep.equal(['done']);
    expect(await names(`/jobs/${id}/transitions?q=claimd`, 'reason')).to.deep.equal(['claimed']);
    for (const path of ['/set-aside-items?q=x', `/jobs/${id}/logs?q=x`, `/jobs/${id}/continuations?q=x`])
      expect([path, (await api.get(path)).items]).to.deep.equal([path, []]);
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
      await eventually(
        async () => (await api.get(`/jobs/${id}`)).item['state'],
        (state) => state === 'failed',
      );
    });
    expect(await idsAt(`/jobs?queue=${queue}&error=error:+AS+IT`)).to.deep.equal([id]);
    expect(await idsAt(`/jobs?queue=${queue}&error=other`)).to.deep.equal([]);
  });

  it('DELETE with q is 400 and deletes nothing', async () => {
    const queue = api.newName();
    for (const { id } of await twoOf(queue)) await api.put(`/jobs/${id}/cancel`);
    expect((await api.delete(`/jobs?queue=${queue}&q=rome`)).codes).to.deep.equal([40002]);
    expect(await idsAt(`/jobs?queue=${queue}`)).to.have.length(2);
    expect((await api.delete('/recurring-jobs?q=nightly')).codes).to.deep.equal([40002]);
  });
});
