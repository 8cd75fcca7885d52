import { apiError } from '../errors/api-error.js';
import type { ApiRequest, ApiResponse } from '../request/request.js';
import { type DocumentSource, openApiDocument } from './document.js';
import { referencePage } from './reference-page.js';
import { referenceStyle } from './reference-style.js';

/** Answers the paths on which the API describes itself; undefined for any other. */
export type Reference = (segments: readonly string[], request: ApiRequest) => ApiResponse | undefined;

const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'",
};

/** `openapi.json`, `docs` and its stylesheet, made at the first request. */
export function createReference(source: DocumentSource): Reference {
  let made: ReadonlyMap<string, ApiResponse> | undefined;
  const make = (): ReadonlyMap<string, ApiResponse> => {
    const document = openApiDocument(source);
    return new Map([
      ['openapi.json', { status: 200, headers: {}, body: document }],
      ['docs', { status: 200, headers: pageHeaders, body: referencePage(document) }],
      [
        'docs/style.css',
        { status: 200, headers: { 'content-type': 'text/css; charset=utf-8' }, body: referenceStyle },
      ],
    ]);
  };
  return (segments, { method }) => {
    made ??= make();
    const response = made.get(segments.join('/').toLowerCase());
    if (response === undefined || method === 'GET' || method === 'HEAD') return response;
    if (method === 'OPTIONS') return { status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } };
    throw apiError(40501, `${method} is not possible here; possible: GET, HEAD, OPTIONS`, {
      allow: 'GET, HEAD, OPTIONS',
    });
  };
}
