import { expect } from 'chai';
import type { Answer, JobsApiUnderTest } from './jobs-api-under-test.js';
import type { Method, Row } from './table-of-resources.js';

type Check = (api: JobsApiUnderTest, url: string, body: unknown) => Promise<void>;

const itemAnswered = ({ status, headers }: Answer): void => {
  expect(status).to.equal(200);
  expect(headers['etag']).to.match(/^".+"$/);
};

/** The rules in the section "Methods" of docs/http-api.md, as one check for each kind of route and method. */
export const checks: Record<Exclude<Row['kind'], 'stream'>, Partial<Record<Method, Check>>> = {
  collection: {
    GET: async (api, url) => {
      const listed = await api.get(url);
      expect(listed.status).to.equal(200);
      expect(listed.items).to.be.an('array');
      expect(listed.headers['x-total-count']).to.match(/^\d+$/);
      expect(listed.headers['link'])
        .to.contain(`<https://jobs.example/api/v1${url}?`)
        .and.contain('rel="first"');
      const head = await api.call('HEAD', url);
      expect([head.status, head.text, head.headers['x-total-count']]).to.deep.equal([
        200,
        '',
        listed.headers['x-total-count'],
      ]);
      expect((await api.get(`${url}?colour=red`)).codes).to.deep.equal([40002]);
    },
    POST: async (api, url, body) => {
      const made = await api.post(url, body);
      expect([made.status, made.headers['etag']?.length]).to.deep.equal([201, 29]);
      const location = String(made.headers.location).replace('https://jobs.example/api/v1', '');
      expect((await api.get(location)).item.id).to.equal(made.item.id);
      expect((await api.post(url, { colour: 'red' })).codes).to.include(42203);
    },
    PUT: async (api, url, body) => {
      const changed = await api.put(url, body);
      expect([changed.status, changed.items.length]).to.deep.equal([200, 1]);
    },
    DELETE: async (api, url) => {
      expect((await api.delete(`${url}?colour=red`)).codes).to.deep.equal([40002]);
      const gone = await api.delete(`${url}?name=nothing-has-this-name`);
      expect([gone.status, gone.text]).to.deep.equal([204, '']);
    },
  },
  item: {
    GET: async (api, url) => {
      const found = await api.get(url);
      itemAnswered(found);
      const headers = { 'if-none-match': String(found.headers['etag']) };
      const [same, head] = [await api.call('GET', url, undefined, headers), await api.call('HEAD', url)];
      expect([same.status, same.text, head.status, head.text]).to.deep.equal([304, '', 200, '']);
    },
    PUT: async (api, url, body) => {
      itemAnswered(await api.put(url, body));
      expect((await api.call('PUT', url, body, { 'if-match': '"stale"' })).codes).to.deep.equal([41201]);
    },
    PATCH: async (api, url, body) => {
      itemAnswered(await api.patch(url, body));
      expect((await api.call('PATCH', url, body, { 'if-match': '"stale"' })).codes).to.deep.equal([41201]);
      const wrong = await api.call('PATCH', url, body, { 'content-type': 'text/plain' });
      expect(wrong.codes).to.deep.equal([41501]);
      expect(wrong.headers['accept-patch']).to.equal('application/merge-patch+json, application/json');
    },
    DELETE: async (api, url) => {
      expect((await api.delete(url)).status).to.equal(204);
      expect((await api.delete(url)).codes).to.deep.equal([40402]);
    },
  },
  operation: {
    PUT: async (api, url) => {
      expect((await api.put(url, { colour: 'red' })).codes).to.deep.equal([42203]);
      const [first, second] = [await api.put(url), await api.put(url, {})];
      itemAnswered(first);
      expect(second.status).to.be.oneOf([200, 409, 404]); // a stopping server may already be gone
    },
  },
};
