import { createHash } from 'node:crypto';
import { apiError } from '../errors/api-error.js';
import { matchesWeakly, parseTags } from '../pipeline/entity-tag.js';
import type { Reference } from '../pipeline/pipeline.js';
import type { ApiResponse } from '../pipeline/request/request.js';
import { type DocumentSource, openApiDocument } from './document.js';
import { referencePage, referenceStyle } from './reference-page.js';

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
};

/** Serves `openapi.json`, `docs` and its stylesheet with an `ETag`. They are rendered on the first request. */
export function createReference(source: DocumentSource): Reference {
  let made: ReadonlyMap<string, ApiResponse> | undefined;
  const make = (): ReadonlyMap<string, ApiResponse> => {
    const document = openApiDocument(source);
    const responses: readonly (readonly [string, ApiResponse])[] = [
      ['openapi.json', { status: 200, headers: {}, body: JSON.stringify(document) }],
      ['docs', { status: 200, headers: pageHeaders, body: referencePage(document) }],
      [
        'docs/style.css',
        { status: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, body: referenceStyle },
      ],
    ];
    return new Map(responses.map(([name, response]) => [name, tagged(response)]));
  };
  return (segments, { method, headers }) => {
    made ??= make();
    const response = made.get(segments.join('/'));
    if (response === undefined) return undefined;
    if (method === 'GET' || method === 'HEAD') return unlessKnown(response, headers['if-none-match']);
    if (method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } };
    throw apiError(40501, `${method} is not possible here; possible: GET, HEAD, OPTIONS`, {
      allow: 'GET, HEAD, OPTIONS',
    });
  };
}

function tagged(response: ApiResponse): ApiResponse {
  const digest = createHash('sha1').update(String(response.body)).digest('base64url');
  return { ...response, headers: { ...response.headers, etag: `"${digest}"` } };
}

function unlessKnown(response: ApiResponse, known: string | undefined): ApiResponse {
  const { etag = '' } = response.headers;
  const tags = known === undefined ? undefined : parseTags(known);
  return tags !== undefined && matchesWeakly(tags, etag) ? { status: 304, headers: { etag } } : response;
}
