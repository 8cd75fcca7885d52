import { defineJob, JobClient, JobEvents, MemoryStorage } from '@longshore/jobs';
import { createResourceApi } from '@longshore/resources';
import { apiClient, type HttpClient, serve } from '@longshore/test-support';
import Koa from 'koa';
import { jobsApi } from '../../src/index.js';

const work = defineJob({ name: 'work' });

export interface EventsUnderTest {
  readonly events: JobEvents;
  readonly http: HttpClient;
  /** The base URL of the API, including the version. */
  readonly url: string;
  /** The id of a ready job. */
  readonly id: string;
  /** Returns how often the event feed of the storage has been read. */
  readonly reads: () => number;
  enqueue(queue?: string): Promise<string>;
  /** Completes the ready jobs of a queue with the result `ashore`. */
  run(queue?: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * Serves the API over in-memory storage. The clock advances by a millisecond each time it is read, so that no two
 * events have the same time.
 */
export async function serveEvents(): Promise<EventsUnderTest> {
  let nowMs = Date.now();
  let reads = 0;
  const storage = new MemoryStorage({ clock: { now: () => ++nowMs } });
  const client = new JobClient(storage);
  const source: ConstructorParameters<typeof JobEvents>[0] = {
    feed: {
      read: (request) => {
        reads++;
        return storage.feed.read(request);
      },
      readSettled: () => storage.feed.readSettled(),
      reportsOf: (id, since, limit) => storage.feed.reportsOf(id, since, limit),
    },
    jobs: storage.jobs,
  };
  const events = new JobEvents(source, { pollIntervalMs: 5 });
  const app = new Koa();
  app.use(
    createResourceApi({
      resources: jobsApi({ storage, client, events, definitions: [work] }),
      baseUrl: 'https://jobs.example',
      log: { incident: () => undefined },
    }),
  );
  const handle = app.callback();
  const server = await serve((request, response) => void handle(request, response));
  const description = { host: 'x', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
  const { id: serverId } = await storage.servers.register(description);
  const enqueue = async (queue = 'default'): Promise<string> =>
    (await client.enqueue(work, {}, { queue })).id;
  return {
    events,
    http: apiClient(server.url),
    url: `${server.url}/api/v1`,
    id: await enqueue(),
    reads: () => reads,
    enqueue,
    run: async (queue = 'default') => {
      const jobs = await storage.claims.claim({ serverId, queue, limit: 100, leaseMs: 3_600_000 });
      await storage.completions.complete(
        jobs.map(({ claim }) => ({ claim, outcome: { kind: 'done', result: '"ashore"' } })),
      );
    },
    close: async () => {
      await events.close();
      await server.close();
      await storage.close();
    },
  };
}

export function codesOf(response: { json(): unknown }): number[] {
  return (response.json() as { errors: { code: number }[] }).errors.map(({ code }) => code);
}
