import { newId } from '@longshore/jobs/storage';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';
import { codesOf, type EventsUnderTest, serveEvents } from './support/events-under-test.js';

describe('GET /jobs/{id}?wait=', () => {
  let api: EventsUnderTest;

  beforeEach(async () => {
    api = await serveEvents();
  });
  afterEach(() => api.close());

  it('answers with the job when it is done', async () => {
    const answer = api.http.get(`/api/v1/jobs/${api.id}?wait=60`);
    await api.run();
    expect((await answer).json()).to.include({ id: api.id, state: 'done', result: 'ashore' });
  });

  it('answers at once if the job has ended', async () => {
    await api.run();
    expect((await api.http.get(`/api/v1/jobs/${api.id}?wait=60`)).json()).to.include({ state: 'done' });
  });

  it('answers with the job as it is when the time is up', async () => {
    const answer = await api.http.get(`/api/v1/jobs/${api.id}?wait=0`);
    expect(answer.status).to.equal(200);
    expect(answer.json()).to.include({ state: 'enqueued' });
  });

  it('answers 304 if the job is as the caller has it', async () => {
    const { etag = '' } = (await api.http.get(`/api/v1/jobs/${api.id}`)).headers;
    const headers = { 'if-none-match': etag };
    expect((await api.http.get(`/api/v1/jobs/${api.id}?wait=0`, { headers })).status).to.equal(304);
  });

  it('answers with the job as it is when the service stops', async () => {
    const answer = api.http.get(`/api/v1/jobs/${api.id}?wait=60`);
    await eventually(() => api.reads() > 1);
    await api.events.close();
    expect((await answer).json()).to.include({ state: 'enqueued' });
  });

  it('refuses to wait longer than a minute', async () => {
    const answer = await api.http.get(`/api/v1/jobs/${api.id}?wait=61`);
    expect([answer.status, codesOf(answer)]).to.deep.equal([400, [40003]]);
  });

  it('answers 404 for a job that is not there', async () => {
    expect((await api.http.get(`/api/v1/jobs/${newId()}?wait=60`)).status).to.equal(404);
  });

  it('is a parameter of nothing else', async () => {
    expect(codesOf(await api.http.get('/api/v1/queues/default?wait=1'))).to.deep.equal([40002]);
  });
});
