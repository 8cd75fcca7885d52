import { createHash } from 'node:crypto';
import { apiError } from '../errors/api-error.js';
import { matchesWeakly, parseTags } from '../pipeline/entity-tag.js';
import type { Reference } from '../pipeline/pipeline.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';
import { supportedVersion } from '../pipeline/request/route.js';
import { type DocumentSource, openApiDocument } from './document.js';
import { indexResponse, rootIndex, versionIndex } from './index-page.js';
import { referencePage, startScript } from './reference-page.js';
import { renderer } from './renderer.js';

type Answer = (request: ApiRequest) => ApiResponse | Promise<ApiResponse>;

/** Serves the indexes, `openapi.json`, and `docs` with its scripts. The document is generated on the first request. */
export function createReference(source: DocumentSource): Reference {
  const { apiUrl, info } = source;
  const path = new URL(apiUrl).pathname;
  const files = once((): ReadonlyMap<string, Answer> => {
    const kept = (answered: ApiResponse): Answer => {
      const response = tagged(answered);
      return ({ headers: asked }) => unlessKnown(response, asked['if-none-match']);
    };
    const page = referencePage(info.title, apiUrl, renderer);
    const script = { 'content-type': 'text/javascript; charset=utf-8' };
    return new Map<string, Answer>([
      ['', (request) => indexResponse(versionIndex(source), info.title, request)],
      ['openapi.json', kept({ status: 200, headers: {}, body: JSON.stringify(openApiDocument(source)) })],
      ['docs', renderer ? kept(page) : () => page],
      ['docs/start.js', kept({ status: 200, headers: script, body: startScript(path) })],
      ...(renderer ? [[`docs/${renderer.name}`, renderer.respond] as const] : []),
    ]);
  });
  return (segments, request) => {
    const [first = '', version, ...rest] = segments;
    const answer =
      version === undefined && (first === '' || first.toLowerCase() === 'api')
        ? (asked: ApiRequest) => indexResponse(rootIndex(info.title, apiUrl), info.title, asked)
        : version?.toLowerCase() === supportedVersion
          ? files().get(rest.join('/').toLowerCase())
          : undefined;
    if (answer === undefined) return undefined;
    const { method } = request;
    if (method === 'GET' || method === 'HEAD') return answer(request);
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

/** A 304 repeats the headers, because browsers replace those that they keep: the page would lose its content security policy. */
function unlessKnown(response: ApiResponse, known: string | undefined): ApiResponse {
  const { 'content-type': _, ...headers } = response.headers;
  const tags = known === undefined ? undefined : parseTags(known);
  return tags !== undefined && matchesWeakly(tags, headers['etag'] ?? '')
    ? { status: 304, headers }
    : response;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
