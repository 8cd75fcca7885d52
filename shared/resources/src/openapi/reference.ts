import { createHash } from 'node:crypto';
import { apiError } from '../errors/api-error.js';
import { matchesWeakly, parseTags } from '../pipeline/entity-tag.js';
import type { Reference } from '../pipeline/pipeline.js';
import type { ApiRequest, ApiResponse } from '../pipeline/request/request.js';
import { supportedVersion } from '../pipeline/request/route.js';
import { requireNoParameters } from '../query/query-parser.js';
import { type DocumentSource, openApiDocument } from './document.js';
import { indexResponse, rootIndex, versionIndex } from './index-page.js';
import { referencePage, startScript } from './reference-page.js';
import { renderer } from './renderer.js';

type Answer = NonNullable<ReturnType<Reference>>;

/**
 * Creates the handler for the indexes, `openapi.json`, and `docs` with its scripts. Generates the document on first
 * use.
 */
export function createReference(source: DocumentSource): Reference {
  const { apiUrl, info } = source;
  const path = new URL(apiUrl).pathname;
  const files = once((): ReadonlyMap<string, Answer> => {
    const kept = (answered: ApiResponse): Answer => {
      const response = tagged(answered);
      return ({ headers: requestHeaders }) => unlessKnown(response, requestHeaders['if-none-match']);
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
  return (segments) => {
    const answer = answerAt(segments);
    return answer && ((request) => readOnly(request, answer));
  };

  function answerAt([first = '', version, ...rest]: readonly string[]): Answer | undefined {
    if (version?.toLowerCase() === supportedVersion) return files().get(rest.join('/').toLowerCase());
    if (version !== undefined || (first !== '' && first.toLowerCase() !== 'api')) return undefined;
    return (request) => indexResponse(rootIndex(info.title, apiUrl), info.title, request);
  }
}

/**
 * Restricts a page to GET, HEAD and OPTIONS without query parameters.
 * @throws {ApiError} 40501 for other methods, 40002 for parameters
 */
function readOnly(request: ApiRequest, answer: Answer): ReturnType<Answer> {
  const { method, query } = request;
  const allow = 'GET, HEAD, OPTIONS';
  if (method === 'OPTIONS') return { status: 204, headers: { allow } };
  if (method !== 'GET' && method !== 'HEAD')
    throw apiError(40501, `${method} is not possible here; possible: ${allow}`, { allow });
  requireNoParameters(query);
  return answer(request);
}

function tagged(response: ApiResponse): ApiResponse {
  const digest = createHash('sha1').update(String(response.body)).digest('base64url');
  return { ...response, headers: { ...response.headers, etag: `"${digest}"` } };
}

/**
 * Returns a 304 if the caller already has the response, otherwise the response. The 304 repeats the content security
 * policy, because browsers replace stored headers with the headers of a 304.
 */
function unlessKnown(response: ApiResponse, known: string | undefined): ApiResponse {
  const { 'content-type': _, ...headers } = response.headers;
  const tags = known === undefined ? undefined : parseTags(known);
  return tags !== undefined && matchesWeakly(tags, headers['etag'] ?? '')
    ? { ...response, status: 304, headers }
    : response;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
