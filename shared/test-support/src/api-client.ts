import { httpClient, type HttpClient } from './http-client.js';
import { DocumentedApi } from './openapi/documented-api.js';

/**
 * Returns an HTTP client for tests. A request rejects with an Error if its answer does not match the API's OpenAPI
 * document.
 *
 * @param documentUrl returns the base URL of the server that has the document; by default `baseUrl`
 */
export function apiClient(baseUrl: string, documentUrl = async (): Promise<string> => baseUrl): HttpClient {
  const api = new DocumentedApi(documentUrl);
  return httpClient(baseUrl, (request, answer) => api.check(request, answer));
}

/**
 * Returns a `fetch` for paths of an API. Like {@link apiClient}, it rejects if the answer does not match the document.
 *
 * @param documentUrl returns the base URL of the server that has the document; by default `baseUrl`
 * @param plain makes the requests
 */
export function apiFetch(
  baseUrl: string,
  documentUrl = async (): Promise<string> => baseUrl,
  plain = fetch,
): (path: string, init?: RequestInit) => Promise<Response> {
  const api = new DocumentedApi(documentUrl);
  return async (path, init = {}) => {
    const url = new URL(baseUrl + path); // resolves `..`, as fetch does
    const response = await plain(url, init);
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
 * Replaces this process's `fetch` by one that rejects if the answer to a request below `/api/v1` does not match the document
 * that the same server has.
 */
export function checkFetchedAnswers(): void {
  const plain = globalThis.fetch;
  const fetches = new Map<string, ReturnType<typeof apiFetch>>();
  globalThis.fetch = (input, init) => {
    const { href } = input instanceof Request ? new URL(input.url) : new URL(input);
    const [, base, path] = /^(.*?)(\/api\/v1\/.*)$/.exec(href) ?? [];
    if (base === undefined || path === undefined || path === '/api/v1/openapi.json')
      return plain(input, init);
    const documented = fetches.get(base) ?? apiFetch(base, async () => base, plain);
    fetches.set(base, documented);
    return documented(path, init);
  };
}
