import { httpClient, type HttpClient } from './http-client.js';
import { DocumentedApi } from './openapi/documented-api.js';

/** The original `fetch`; {@link checkFetchedAnswers} replaces it. */
const plainFetch = globalThis.fetch;

/**
 * Returns an HTTP client for tests. Requests reject if the response does not match the API's OpenAPI document.
 *
 * @param documentUrl returns the base URL of the server that serves the document; `baseUrl` by default
 */
export function apiClient(baseUrl: string, documentUrl = async (): Promise<string> => baseUrl): HttpClient {
  const api = new DocumentedApi(documentUrl);
  return httpClient(baseUrl, (request, answer) => api.check(request, answer));
}

/**
 * Returns a function like `fetch` for paths of an API. Rejects if a response does not match the API's OpenAPI document.
 * Does not check event streams.
 *
 * @param documentUrl returns the base URL of the server that serves the document; `baseUrl` by default
 */
export function apiFetch(
  baseUrl: string,
  documentUrl = async (): Promise<string> => baseUrl,
): (path: string, init?: RequestInit) => Promise<Response> {
  const api = new DocumentedApi(documentUrl);
  return async (path, init = {}) => {
    const url = new URL(baseUrl + path); // resolves `..`, as fetch does
    const response = await plainFetch(url, init);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return response;
    const { method = 'GET', body } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    await api.check(
      { method, path: url.href.slice(baseUrl.length), headers, body },
      {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await response.clone().text(),
      },
    );
    return response;
  };
}

/**
 * Replaces `fetch` in this process. Requests under `/api/v1` then reject if the response does not match the OpenAPI
 * document of the same server.
 */
export function checkFetchedAnswers(): void {
  const fetches = new Map<string, ReturnType<typeof apiFetch>>();
  globalThis.fetch = async (input, init) => {
    const { href } = input instanceof Request ? new URL(input.url) : new URL(input);
    const [, base, path] = /^(.*?)(\/api\/v1\/.*)$/.exec(href) ?? [];
    if (base === undefined || path === undefined || path === '/api/v1/openapi.json')
      return plainFetch(input, init);
    const documented = fetches.get(base) ?? apiFetch(base);
    fetches.set(base, documented);
    return documented(path, input instanceof Request ? await initOf(new Request(input, init)) : init);
  };
}

async function initOf(request: Request): Promise<RequestInit> {
  const { method, headers, signal } = request;
  const body = await request.text();
  return { method, headers, signal, ...(body !== '' && { body }) };
}
