import { expect } from 'chai';
import { onEachStorage } from './support/jobs-api-under-test.js';

onEachStorage('Job definitions as resources', (api) => {
  it('GET /job-definitions shows names and defaults', async () => {
    const { items } = await api.get('/job-definitions?fields=name,queue,maxAttempts,timeoutMs');
    expect(items).to.deep.equal([
      { name: 'add', queue: 'default', maxAttempts: 10, timeoutMs: 60_000 },
      { name: 'fail', queue: 'failures', maxAttempts: 1, timeoutMs: null },
    ]);
  });

  it('GET /job-definitions finds them by a part of the name and by queue', async () => {
    expect((await api.get('/job-definitions?name=AI')).items.map(({ name }) => name)).to.deep.equal(['fail']);
    expect((await api.get('/job-definitions?queue=default')).items).to.have.length(1);
  });

  it('GET /job-definitions/{name} shows the schema of the arguments', async () => {
    const { item } = await api.get('/job-definitions/add');
    expect(item['argsSchema']).to.deep.include({ type: 'object', required: ['a', 'b'] });
  });

  it('GET /job-definitions/{name} of an unknown one is 404', async () => {
    expect((await api.get('/job-definitions/subtract')).codes).to.deep.equal([40402]);
  });

  it('POST /job-definitions is 405', async () => {
    expect((await api.post('/job-definitions', { name: 'x' })).codes).to.deep.equal([40501]);
  });
});
