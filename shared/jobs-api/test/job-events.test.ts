import { newId } from '@longshore/jobs/storage';
import {
  type EventStreamClient,
  eventually,
  listenToEvents,
  type OpenApiDocument,
  operationsOf,
  type ReceivedEvent,
} from '@longshore/test-support';
import { expect } from 'chai';
import { codesOf, type EventsUnderTest, serveEvents } from './support/events-under-test.js';

interface EventData {
  readonly jobId: string;
  readonly state: string;
}

/** Takes events as they come, without heartbeats, which a stream sends after 15 seconds of silence. */
async function take({ events }: EventStreamClient, count = Infinity): Promise<ReceivedEvent[]> {
  const received: ReceivedEvent[] = [];
  while (received.length < count) {
    const { value, done } = await events.next();
    if (done === true) break;
    if (value.comment === undefined) received.push(value);
  }
  return received;
}

function dataOf(received: readonly ReceivedEvent[]): EventData[] {
  return received.flatMap(({ data }) => (data === undefined ? [] : [JSON.parse(data) as EventData]));
}

const statesOf = (received: readonly ReceivedEvent[]): string[] => dataOf(received).map(({ state }) => state);

describe('Events of jobs over HTTP', () => {
  let api: EventsUnderTest;
  let ofJob: string;
  let ofAll: string;

  beforeEach(async () => {
    api = await serveEvents();
    ofJob = `${api.url}/jobs/${api.id}/events`;
    ofAll = `${api.url}/events`;
  });
  afterEach(() => api.close());

  describe('GET /jobs/{id}/events', () => {
    it('tells the course of the job and ends with it', async () => {
      const stream = await listenToEvents(ofJob);
      await api.run();
      const received = await take(stream);
      expect(received[0]).to.deep.equal({ retry: '2000' });
      expect(statesOf(received)).to.deep.equal(['enqueued', 'processing', 'done']);
      expect(dataOf(received).at(-1)).to.deep.include({ jobId: api.id, name: 'work', attempt: 1 });
    });

    it('is served as server-sent events that nobody keeps or buffers', async () => {
      const stream = await listenToEvents(ofJob, { 'accept-encoding': 'gzip, br' });
      stream.close();
      expect(stream.status).to.equal(200);
      expect(stream.headers).to.include({
        'content-type': 'text/event-stream',
        'cache-control': 'no-store',
        'x-accel-buffering': 'no',
      });
      expect(stream.headers).not.to.have.any.keys('content-encoding', 'content-length');
    });

    it('goes on after the last event that the listener has had', async () => {
      await api.run();
      const received = await take(await listenToEvents(ofJob));
      const started = received.find(({ data = '' }) => data.includes('processing'));
      const rest = await listenToEvents(ofJob, { 'last-event-id': started?.id ?? '' });
      expect(statesOf(await take(rest))).to.deep.equal(['processing', 'done']);
    });

    it('answers 204 to a listener that has had the end, which then asks no more', async () => {
      await api.run();
      const last = (await take(await listenToEvents(ofJob))).at(-1);
      expect((await listenToEvents(ofJob, { 'last-event-id': last?.id ?? '' })).status).to.equal(204);
    });

    it('answers 404 for a job that is not there', async () => {
      expect((await listenToEvents(`${api.url}/jobs/${newId()}/events`)).status).to.equal(404);
    });
  });

  describe('GET /events', () => {
    it('tells what happens to the jobs that the filter admits', async () => {
      const stream = await listenToEvents(`${ofAll}?state=done&name=work&queue=mail`);
      await api.run();
      const id = await api.enqueue('mail');
      await api.run('mail');
      const [, event] = await take(stream, 2);
      expect(event?.event).to.equal('state');
      expect(JSON.parse(event?.data ?? '')).to.deep.include({ jobId: id, state: 'done', queue: 'mail' });
      stream.close();
    });

    it('misses nothing between two listenings', async () => {
      const first = await listenToEvents(`${ofAll}?state=done`);
      await api.run();
      const heard = await take(first, 2);
      first.close();
      const ids = [api.id];
      for (let round = 0; round < 5; round++) {
        ids.push(await api.enqueue());
        await api.run();
      }
      const headers = { 'last-event-id': heard.at(-1)?.id ?? '' };
      const second = await listenToEvents(`${ofAll}?state=done`, headers);
      const told = new Set(dataOf(heard).map(({ jobId }) => jobId));
      for await (const event of second.events) {
        for (const { jobId } of dataOf([event])) told.add(jobId);
        if (told.size === ids.length) break;
      }
      second.close();
      expect([...told]).to.deep.equal(ids);
    });

    it('takes the values of Last-Event-ID that the document allows, and no others', async () => {
      const document = (await api.http.get('/api/v1/openapi.json')).json() as OpenApiDocument;
      const { parameters } = operationsOf(document).find(({ template }) => template === '/events') ?? {};
      const { schema } = parameters?.find(({ name }) => name === 'Last-Event-ID') ?? {};
      const { pattern = '', maxLength = 0 } = schema ?? {};
      const time = '2026-01-31T09:00:00.120Z';
      for (const [value, isTaken] of [
        [time, true],
        ['2026-01-31t10:00:00+01:00', true],
        [`${time}/${newId()}/${time}`, true],
        [`${time}/${newId().toUpperCase()}/${time}`, true],
        ['x', false],
        ['0', false],
        ['2026-01-31', false],
        [`${time}/${newId()}`, false],
        [`${time}/x/${time}`, false],
        [`${time}/${newId()}/${time}/${time}`, false],
        [`${time} ${time}`, false],
      ] as const) {
        const isDocumented = new RegExp(pattern, 'u').test(value) && value.length <= maxLength;
        const stream = await listenToEvents(ofAll, { 'last-event-id': value });
        stream.close();
        expect([value, isDocumented, stream.status]).to.deep.equal([value, isTaken, isTaken ? 200 : 400]);
      }
    });

    it('ends when the service stops', async () => {
      const stream = await listenToEvents(ofAll);
      await api.events.close();
      expect(dataOf(await take(stream))).to.deep.equal([]);
    });

    it('lets go of listeners that go away', async () => {
      const streams = await Promise.all([listenToEvents(ofAll), listenToEvents(ofJob)]);
      await Promise.all(streams.map((stream) => take(stream, 1)));
      for (const stream of streams) stream.close();
      await eventually(() => api.events.listeners === 0);
    });

    it('refuses an id that no stream has sent', async () => {
      const answer = await api.http.get('/api/v1/events', { headers: { 'last-event-id': 'yesterday' } });
      expect([answer.status, codesOf(answer)]).to.deep.equal([400, [40003]]);
    });

    for (const [query, code] of Object.entries({
      'colour=red': 40002,
      'limit=5': 40002,
      'state=sunk': 40003,
    }))
      it(`refuses ${query}`, async () => {
        expect(codesOf(await api.http.get(`/api/v1/events?${query}`))).to.deep.equal([code]);
      });

    it('refuses a caller that takes no events', async () => {
      const headers = { accept: 'application/json' };
      expect(codesOf(await api.http.get('/api/v1/events', { headers }))).to.deep.equal([40601]);
    });

    it('refuses methods that there are not', async () => {
      const posted = await api.http.post('/api/v1/events', {});
      expect([posted.status, posted.headers.allow]).to.deep.equal([405, 'GET, HEAD, OPTIONS']);
    });
  });
});
