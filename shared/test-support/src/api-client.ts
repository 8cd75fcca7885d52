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
 */
export function apiFetch(
  baseUrl: string,
  documentUrl = async (): Promise<string> => baseUrl,
): (path: string, init?: RequestInit) => Promise<Response> {
  const api = new DocumentedApi(documentUrl);
  return async (path, init = {}) => {
    const url = new URL(baseUrl + path); // resolves `..`, as fetch does
    const response = await fetch(url, init);
    if (response.headers.get('content-type')?.startsWith('text/event-stream') === true) return response;
    const { method = 'GET', body } = init;
    const headers = Object.fromEntries(new Headers(init.headers));
    await api.check(
      { method, path: url.pathname + url.search, headers, body },
      {
        status: response.status,
        headers: Object.fromEntries(response.headers),
        text: await response.clone().text(),
      },
    );
    return response;
  };
}
