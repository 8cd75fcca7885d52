import Koa from 'koa';
import { createResourceApi, type ResourceApiOptions } from '@longshore/resources';
import { apiFetch, serve as serveOnFreePort, type TestServer } from '@longshore/test-support';

/** A served API. `incidents` contains the unexpected errors that the API has logged. */
export interface TestApi {
  readonly url: string;
  readonly incidents: unknown[];
  readonly call: (path: string, init?: RequestInit & { json?: unknown }) => Promise<Answer>;
  readonly close: () => Promise<void>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; undefined if it is empty or not JSON. */
  readonly body: unknown;
  /** The codes in an error payload. */
  readonly codes: readonly number[];
  /** The internal messages in an error payload, separated by newlines. */
  readonly messages: string;
}

/** The base URL of links in responses. The actual URL of the test server differs. */
export const baseUrl = 'https://api.example.com';

/** Serves resources on a free loopback port. */
export async function serve(
  options: Partial<ResourceApiOptions> & Pick<ResourceApiOptions, 'resources'>,
  extend: (app: Koa) => void = () => {},
): Promise<TestApi> {
  const incidents: unknown[] = [];
  const log = { incident: ({ error }: { error: unknown }) => incidents.push(error) };
  const server = await serveApi({ baseUrl, log, ...options }, extend);
  // The client reads the OpenAPI document from a second API without a rate limit, so that reading it does not count
  // against the limit.
  const unlimited = options.rateLimit && (await serveApi({ baseUrl, log, ...options, rateLimit: undefined }));
  const send = apiFetch(server.url, async () => (unlimited ?? server).url);
  return {
    url: server.url,
    incidents,
    call: async (path, init = {}) => toAnswer(await send(path, withJson(init))),
    close: async () => {
      await server.close();
      await unlimited?.close();
    },
  };
}

function serveApi(
  {
    rateLimit,
    ...options
  }: Omit<ResourceApiOptions, 'rateLimit'> & { rateLimit?: ResourceApiOptions['rateLimit'] | undefined },
  extend: (app: Koa) => void = () => {},
): Promise<TestServer> {
  const app = new Koa();
  app.use(createResourceApi({ ...options, ...(rateLimit && { rateLimit }) }));
  extend(app);
  const handle = app.callback();
  return serveOnFreePort((request, response) => void handle(request, response));
}

function withJson({ json, ...init }: RequestInit & { json?: unknown }): RequestInit {
  if (json === undefined) return init;
  const headers = new Headers(init.headers);
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return { ...init, headers, body: JSON.stringify(json) };
}

async function toAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = (response.headers.get('content-type') ?? '').includes('json') && text !== '';
  const body: unknown = isJson ? JSON.parse(text) : undefined;
  const { errors = [] } = (body ?? {}) as { errors?: readonly { code: number; internalMessage: string }[] };
  return {
    status: response.status,
    headers: response.headers,
    text,
    body,
    codes: errors.map(({ code }) => code),
    messages: errors.map(({ internalMessage }) => internalMessage).join('\n'),
  };
}
