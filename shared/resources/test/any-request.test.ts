import { expect } from 'chai';
import fc from 'fast-check';
import { errorCatalogue, type ErrorPayload, type OpenApiDocument } from '@longshore/resources';
import { type Library, newBook, serveLibrary } from './support/library.js';

/**
 * Statuses that the test allows although the document does not list them: for OPTIONS, malformed requests, unknown
 * paths and unsupported methods.
 */
const undocumented = [204, 400, 404, 405];

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('austen', '%00', '%zz', '..', 'search', '-title', '+', '0', '-1', '1e9', 'null'),
);
const path = fc.oneof(
  fc.constantFrom(
    '/books',
    '/authors',
    '/authors/austen',
    '/authors/austen/books',
    '/books/x/lend',
    '/books/search/x',
  ),
  fc
    .array(
      fc.oneof(fc.constantFrom('books', 'authors', 'austen', 'chapters', 'lend', 'search'), text.map(encode)),
      { maxLength: 5 },
    )
    .map((segments) => `/${segments.join('/')}`),
);
const parameter = fc.constantFrom(
  'q',
  'sort',
  'fields',
  'limit',
  'offset',
  'after',
  'before',
  'title',
  'status',
  'minPages',
  'createdAfter',
  'tag',
  'details.isbn',
  'details.',
  'x',
);
const query = fc.array(fc.tuple(parameter, text.map(encode)), { maxLength: 3 });
const headers = fc.record(
  {
    accept: fc.constantFrom(
      '*/*',
      'application/json',
      'text/html',
      'application/problem+json',
      ';;',
      'a/b;q=x',
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'application/merge-patch+json',
      'text/plain',
      'application/json; charset=latin1',
      ';',
    ),
    'if-match': fc.constantFrom('*', '"x"', 'W/"x"', ''),
    'if-none-match': fc.constantFrom('*', '"x"', ','),
    prefer: fc.constantFrom('count=exact', 'count=none', 'respond-async', ';=,'),
    'idempotency-key': fc.uuid(),
    'accept-encoding': fc.constantFrom('br', 'gzip;q=0', '*', 'x'),
  },
  { requiredKeys: [] },
);
const body = fc.oneof(
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc
    .record(
      { title: text, authorId: fc.constantFrom('austen', 'nobody'), price: fc.double(), pages: fc.integer() },
      { requiredKeys: [] },
    )
    .map((value) => JSON.stringify(value)),
  fc.constant(JSON.stringify(newBook())),
  fc.constant(`${'['.repeat(5000)}${']'.repeat(5000)}`),
);
const request = fc.record({
  method: fc.constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'),
  path,
  query,
  headers,
  body,
});

function encode(value: string): string {
  // Replaces lone surrogates, which cannot be encoded. Keeps percent signs, so that some encodings are invalid.
  return encodeURIComponent(value.toWellFormed()).replaceAll('%25', '%');
}

describe('Any request', () => {
  let api: Library;
  let document: OpenApiDocument;
  before(async () => {
    api = await serveLibrary();
    document = (await api.call('/api/v1/openapi.json')).body as OpenApiDocument;
  });
  after(() => api.close());

  /** Returns the statuses that the document lists for a method, on any path. */
  const documented = (method: string): readonly number[] =>
    Object.values(document.paths).flatMap((item) => {
      const operation = item[method === 'HEAD' ? 'get' : method.toLowerCase()] as
        { responses?: object } | undefined;
      return Object.keys(operation?.responses ?? {}).map(Number);
    });

  it('gets a documented answer, with the error payload for 400 and above, and never a 500', async () => {
    const property = fc.asyncProperty(request, async (given) => {
      const search = given.query.map(([name, value]) => `${name}=${value}`).join('&');
      const takesBody = !['GET', 'HEAD'].includes(given.method);
      const answer = await api.call(`/api/v1${given.path}?${search}`, {
        method: given.method,
        headers: given.headers,
        ...(takesBody && { body: given.body }),
      });
      expect([...documented(given.method), ...undocumented]).to.include(answer.status);
      expect(answer.status).to.be.below(500);
      if (answer.status >= 400 && given.method !== 'HEAD') {
        const { errors } = answer.body as ErrorPayload;
        expect(errors).to.have.length.above(0);
        for (const { code } of errors) expect(errorCatalogue).to.have.property(String(code));
      }
    });
    await fc.assert(property, { numRuns: 500, endOnFailure: true });
    expect(api.incidents).to.deep.equal([]);
  });
});
