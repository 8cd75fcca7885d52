import {
  defineJob,
  handleJob,
  JobClient,
  JobEvents,
  JobServer,
  type JobStorage,
  MemoryStorage,
} from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import { createResourceApi } from '@longshore/resources';
import {
  createTestDatabase,
  apiClient,
  type HttpClient,
  type HttpResponse,
  patientServer,
  patientStorage,
  serve,
  type TestServer,
} from '@longshore/test-support';
import Koa from 'koa';
import { after, before, describe } from 'mocha';
import Type from 'typebox';
import { classifyStorageError, jobsApi, type JobsApiOptions } from '../../src/index.js';

export const add = defineJob({
  name: 'add',
  args: Type.Object({ a: Type.Number(), b: Type.Number() }, { additionalProperties: false }),
  timeoutMs: 60_000,
});

/** A job that fails on its only attempt. */
export const fail = defineJob({ name: 'fail', queue: 'failures', maxAttempts: 1 });

export interface ItemBody {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** A response. `item`, `items` and `codes` parse the body when they are read. */
export interface Answer {
  readonly status: number;
  readonly headers: HttpResponse['headers'];
  readonly text: string;
  readonly item: ItemBody;
  readonly items: ItemBody[];
  /** The codes in the error payload. */
  readonly codes: number[];
}

interface Opened {
  readonly storage: JobStorage;
  readonly server: TestServer;
  readonly http: HttpClient;
  readonly close: () => Promise<void>;
}

/** Serves the job resources over one storage. Tests share the storage, so each test uses separate queues. */
export class JobsApiUnderTest {
  readonly #open: () => Promise<{ storage: JobStorage; close: () => Promise<void> }>;
  readonly #options: Partial<JobsApiOptions>;
  #opened: Opened | undefined;
  #names = 0;

  constructor(
    open: () => Promise<{ storage: JobStorage; close: () => Promise<void> }>,
    options: Partial<JobsApiOptions>,
  ) {
    this.#open = open;
    this.#options = options;
  }

  async start(): Promise<void> {
    const { storage, close } = await this.#open();
    const app = new Koa();
    app.use(
      createResourceApi({
        resources: jobsApi({
          storage,
          client: new JobClient(storage),
          events: new JobEvents(storage),
          definitions: [add, fail],
          ...this.#options,
        }),
        baseUrl: 'https://jobs.example',
        classifyError: classifyStorageError,
        log: { incident: () => undefined },
        bodyLimitBytes: 16 * 1024 * 1024,
      }),
    );
    const handle = app.callback();
    const server = await serve((request, response) => void handle(request, response));
    this.#opened = { storage, server, http: apiClient(server.url), close };
  }

  async stop(): Promise<void> {
    await this.#opened?.server.close();
    await this.#opened?.close();
  }

  /** The base URL of the API's paths, with the version. */
  get url(): string {
    return `${this.#running.server.url}/api/v1`;
  }

  get storage(): JobStorage {
    return this.#running.storage;
  }

  /**
   * Sends a request.
   * @param path the path after the version, such as `/jobs?limit=1`
   */
  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await this.#running.http.request(method, `/api/v1${path}`, { body, headers });
    const { status, text } = response;
    return {
      status,
      headers: response.headers,
      text,
      get item() {
        return response.json() as ItemBody;
      },
      get items() {
        return response.json() as ItemBody[];
      },
      get codes() {
        return (response.json() as { errors: { code: number }[] }).errors.map(({ code }) => code);
      },
    };
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body: unknown): Promise<Answer> {
    return this.call('POST', path, body);
  }

  put(path: string, body?: unknown): Promise<Answer> {
    return this.call('PUT', path, body);
  }

  patch(path: string, body: unknown): Promise<Answer> {
    return this.call('PATCH', path, body);
  }

  delete(path: string): Promise<Answer> {
    return this.call('DELETE', path);
  }

  /** Returns a name for a queue or a recurring job that no other test uses. */
  newName(): string {
    return `name-${++this.#names}`;
  }

  /** Enqueues an `add` job in a queue. `body` adds or replaces fields of the request. */
  async enqueue(queue: string, body: object = {}): Promise<ItemBody> {
    return (await this.post('/jobs', { name: 'add', args: { a: 1, b: 2 }, queue, ...body })).item;
  }

  /**
   * Runs the jobs of a queue until `work` resolves.
   * @param serverTimeoutMs the server's timeout; three heartbeats, which bring it the requests of operators
   */
  async withServer(
    queue: string,
    work: (server: JobServer) => Promise<void>,
    serverTimeoutMs: number = patientServer.serverTimeoutMs,
  ): Promise<void> {
    const server = new JobServer({
      storage: this.storage,
      queues: [queue],
      concurrency: 3,
      host: 'here',
      ...patientServer,
      serverTimeoutMs,
      handlers: [
        handleJob(add, ({ args }) => args.a + args.b),
        handleJob(fail, () => {
          throw new Error('as it should');
        }),
      ],
    });
    await server.start();
    try {
      await work(server);
    } finally {
      await server.stop();
    }
  }

  get #running(): Opened {
    if (this.#opened === undefined) throw new Error('The API is started before the first test, not earlier');
    return this.#opened;
  }
}

/** Runs the tests twice: with in-memory storage and with Postgres storage. */
export function onEachStorage(
  title: string,
  tests: (api: JobsApiUnderTest) => void,
  options: Partial<JobsApiOptions> = {},
): void {
  for (const [name, open] of [
    ['memory', openMemory],
    ['Postgres', openPostgres],
  ] as const) {
    describe(`${title}, on ${name}`, () => {
      const api = new JobsApiUnderTest(open, options);
      before(() => api.start());
      after(() => api.stop());
      tests(api);
    });
  }
}

async function openMemory(): Promise<{ storage: JobStorage; close: () => Promise<void> }> {
  const storage = new MemoryStorage();
  return { storage, close: () => storage.close() };
}

/** Opens Postgres storage in a clone of a migrated database. */
export async function openPostgres(): Promise<{ storage: JobStorage; close: () => Promise<void> }> {
  const database = await createTestDatabase(migrate);
  const storage = new PostgresStorage({ url: database.url, ...patientStorage });
  await storage.open();
  const close = async (): Promise<void> => {
    await storage.close();
    await database.drop();
  };
  return { storage, close };
}

async function migrate(url: string): Promise<void> {
  const storage = new PostgresStorage({ url, ...patientStorage });
  await storage.open();
  await storage.close();
}
