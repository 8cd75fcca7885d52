import { httpClient, type HttpClient } from './http-client.js';
import { DocumentedApi } from './openapi/documented-api.js';

/**
 * Returns an HTTP client for tests that rejects with an Error each answer that is not as the API's document says.
 *
 * @param documentUrl returns where the document is served, if not there
 */
export function apiClient(baseUrl: string, documentUrl = async (): Promise<string> => baseUrl): HttpClient {
  const api = new DocumentedApi(documentUrl);
  return httpClient(baseUrl, (request, answer) => api.check(request, answer));
}

/**
 * Returns `fetch` for paths of an API; like {@link apiClient}, it rejects answers that are not as documented.
 *
 * @param documentUrl returns where the document is served, if not there
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
