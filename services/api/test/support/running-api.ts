import { PassThrough } from 'node:stream';
import type { Logger } from '@longshore/service';
import { apiClient, type HttpResponse } from '@longshore/test-support';
import { pino } from 'pino';
import { startApi } from '../../src/api-service.js';
import { readApiConfig } from '../../src/config.js';

/** The value of `API_ADMIN_KEY` in tests. */
export const adminKey = 'an-admin-key-that-only-tests-know';

export interface Call {
  readonly token?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RunningApi {
  readonly url: string;
  /** Returns everything that has been logged so far. */
  readonly log: () => string;
  readonly call: (method: string, path: string, call?: Call) => Promise<HttpResponse>;
  /** Sends a request and returns the error codes in the response; empty if there are none. */
  readonly codes: (method: string, path: string, call?: Call) => Promise<readonly number[]>;
  /** Creates an API key as the admin, and returns its token and its id. */
  readonly makeKey: (terms: object) => Promise<{ token: string; id: string }>;
  readonly stop: () => Promise<void>;
}

/** Starts the API in this process on a free port. By default, jobs are kept in memory, and no job server runs. */
export async function runApi(environment: Readonly<Record<string, string>> = {}): Promise<RunningApi> {
  const { url, text, stop: stopApi } = await start(environment);
  // If a test sets a rate limit, the client reads the OpenAPI document from a second API with a higher limit. These
  // reads then do not count against the test's limit.
  const unlimited =
    environment['API_RATE_LIMIT_BURST'] === undefined
      ? undefined
      : await start({ ...environment, API_RATE_LIMIT_BURST: '1000' });
  const client = apiClient(url, async () => (unlimited ?? { url }).url);
  const stop = async (): Promise<void> => {
    await stopApi();
    await unlimited?.stop();
  };

  const call: RunningApi['call'] = (method, path, { token, json, headers = {} } = {}) =>
    client.request(method, path, {
      headers: { ...(token !== undefined && { authorization: `Bearer ${token}` }), ...headers },
      ...(json !== undefined && { body: json }),
    });
  const codes: RunningApi['codes'] = async (...request) => {
    const answer = (await call(...request)).json() as { errors?: readonly { code: number }[] };
    return (answer.errors ?? []).map(({ code }) => code);
  };
  const makeKey: RunningApi['makeKey'] = async (terms) => {
    const made = await call('POST', '/api/v1/api-keys', {
      token: adminKey,
      json: { name: 'test', scopes: ['read'], ...terms },
    });
    const { id, key } = made.json() as { id: string; key: string };
    return { id, token: key };
  };
  return { url, log: text, call, codes, makeKey, stop };
}

async function start(
  environment: Readonly<Record<string, string>>,
): Promise<{ url: string; text: () => string; stop: () => Promise<void> }> {
  const { logger, text } = keptLog();
  const config = readApiConfig({
    API_STORAGE: 'memory',
    PORT: '0',
    API_EMBEDDED_SERVER: 'false',
    API_EMBEDDED_DASHBOARD: 'false',
    API_AUTH: 'keys',
    API_ADMIN_KEY: adminKey,
    LONGSHORE_APP: '@longshore/example-shop',
    DATABASE_CONNECT_TIMEOUT_MS: '3600000',
    DATABASE_SILENCE_TIMEOUT_MS: '3600000',
    DATABASE_READ_TIMEOUT_MS: '3600000',
    DASHBOARD_READ_TIMEOUT_MS: '3600000',
    WORKER_SERVER_TIMEOUT_MS: '3600000',
    WORKER_STOP_TIMEOUT_MS: '3600000',
    ...environment,
  });
  const service = await startApi(config, logger, new AbortController().signal);
  const port = /"port":(\d+)/.exec(text())?.[1] ?? '';
  return { url: `http://127.0.0.1:${port}`, text, stop: async () => service.stop() };
}

function keptLog(): { logger: Logger; text: () => string } {
  const stream = new PassThrough();
  const lines: string[] = [];
  stream.on('data', (line: Buffer) => lines.push(line.toString()));
  return { logger: pino({ level: 'trace' }, stream), text: () => lines.join('') };
}
