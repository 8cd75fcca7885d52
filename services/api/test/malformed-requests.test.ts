import type { ErrorPayload } from '@longshore/resources';
import { httpClient } from '@longshore/test-support';
import { expect } from 'chai';
import { runApi, type RunningApi } from './support/running-api.js';

/** Malformed requests. Node.js itself would reject most of them without a response body. */
const requests: Readonly<Record<string, readonly [request: string, status: number, code: number]>> = {
  'no Host': ['GET /api/v1/jobs HTTP/1.1\r\n\r\n', 400, 40003],
  'two Hosts': ['GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n', 400, 40003],
  'an unknown expectation': [
    'GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nExpect: a miracle\r\n\r\n',
    417,
    41701,
  ],
  'a URL above the limit of the API': [
    `GET /api/v1/jobs?q=${'x'.repeat(12_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    414,
    41401,
  ],
  'a URL above the limit of the parser': [
    `GET /api/v1/jobs?q=${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
    414,
    41401,
  ],
  'headers above the limit': [
    `GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nCookie: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    43101,
  ],
  'bytes in the URL that are not ASCII': [
    'GET /api/v1/jobs?name=\xff HTTP/1.1\r\nHost: localhost\r\n\r\n',
    400,
    40003,
  ],
  'no HTTP': ['nonsense\r\n\r\n', 400, 40003],
};

describe('An api', () => {
  let api: RunningApi;
  before(async () => (api = await runApi({ API_AUTH: 'none', API_ADMIN_KEY: '' })));
  after(() => api.stop());

  for (const [what, [request, status, code]] of Object.entries(requests)) {
    it(`answers a request with ${what} with ${status} and the error payload`, async () => {
      const answer = await httpClient(api.url).raw(
        request.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'),
      );
      const [head = '', body = ''] = answer.split('\r\n\r\n');
      expect(head).to.match(new RegExp(`^HTTP/1\\.1 ${status} `));
      expect((JSON.parse(body) as ErrorPayload).errors.map((error) => error.code)).to.deep.equal([code]);
    });
  }
});
