import { eventually, patientServer, patientStorage, type TestDatabase } from '@longshore/test-support';
import { defineJob, handleJob, JobClient, JobServer, type EnqueueOptions } from '@longshore/jobs';
import { type ClaimedJob, type LocalServer, newId, type ServerRegistration } from '@longshore/jobs/storage';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const leaseMs = 3_600_000;

/** A server with a slot for every job. Records the started jobs, and how many slots each release frees. */
class RecordingServer implements LocalServer {
  readonly started: ClaimedJob[] = [];
  readonly releases: number[] = [];
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  reserve(_queue: string, _name: string, jobIds: readonly string[]): ReturnType<LocalServer['reserve']> {
    return {
      serverId: this.#id,
      leaseMs,
      start: (jobs) => this.started.push(...jobs),
      release: () => this.releases.push(jobIds.length),
      fail: () => undefined,
    };
  }
}

describe('A job that is enqueued in the process of an idle server', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let count = 0;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  const newQueue = (): string => `queue-${++count}`;

  function register(queue: string): Promise<ServerRegistration> {
    return storage.servers.register({
      host: 'x',
      pid: 1,
      queues: [queue],
      concurrency: 4,
      timeoutMs: 3_600_000,
    });
  }

  async function registered(queue: string): Promise<string> {
    return (await register(queue)).id;
  }

  /** Enqueues a job while the server `serverId` is idle. Returns the server and the job's id. */
  async function enqueueBeside(
    serverId: string,
    queue: string,
    options: EnqueueOptions = {},
  ): Promise<{ server: RecordingServer; id: string }> {
    const server = new RecordingServer(serverId);
    const stop = storage.enqueuer.startOn(server);
    const definition = defineJob({ name: `work-${queue}`, queue });
    const { id } = await new JobClient(storage).enqueue(definition, { b: 1, a: [1.5, 'x'] }, options);
    stop();
    return { server, id };
  }

  it('starts without a claim', async () => {
    const queue = newQueue();
    const work = defineJob({ name: 'work', queue });
    let claimed = 0;
    const claim = storage.claims.claim.bind(storage.claims);
    storage.claims.claim = async (request) => {
      const jobs = await claim(request);
      claimed += jobs.length;
      return jobs;
    };
    const server = new JobServer({ storage, ...patientServer, handlers: [handleJob(work, () => 'done')] });
    await server.start();
    try {
      const { id } = await eventually(async () => {
        claimed = 0;
        const job = await new JobClient(storage).enqueue(work, {});
        await eventually(
          () => storage.jobs.find(job.id),
          (job) => job?.state === 'done',
        );
        return claimed === 0 && job; // repeats if a claim that was already under way found the job
      });
      expect(await storage.jobs.find(id)).to.include({ result: 'done', attempt: 1 });
    } finally {
      storage.claims.claim = claim;
      await server.stop();
    }
  });

  it('is given to the server as a claim would give it', async () => {
    const queue = newQueue();
    const serverId = await registered(queue);
    const { server } = await enqueueBeside(serverId, queue, { tags: ['one'], priority: 3, maxAttempts: 7 });
    const started = await eventually(() => server.started.length > 0 && server.started);
    await storage.claims.release(started.map(({ claim }) => claim));
    expect(started).to.deep.equal(await storage.claims.claim({ serverId, queue, limit: 1, leaseMs }));
  });

  it('counts as running', async () => {
    const queue = newQueue();
    await enqueueBeside(await registered(queue), queue);
    expect((await storage.queues.find(queue))?.counts).to.include({ enqueued: 0, processing: 1 });
  });

  it('is ready again when its server leaves', async () => {
    const queue = newQueue();
    const registration = await register(queue);
    const { id } = await enqueueBeside(registration.id, queue);
    await registration.unregister();
    expect(await storage.jobs.find(id)).to.include({ state: 'enqueued', serverId: null });
  });

  it('runs as its first attempt if the server does not learn of its lease', async () => {
    const queue = newQueue();
    const work = defineJob({ name: 'work', queue });
    const attempts: number[] = [];
    let lost = 0;
    const startOn = storage.enqueuer.startOn.bind(storage.enqueuer);
    storage.enqueuer.startOn = (server) =>
      startOn({
        reserve: (...offer) => {
          const slots = server.reserve(...offer);
          if (slots === null) return null;
          const start = (): void => {
            lost++;
            slots.fail();
          };
          return { ...slots, start };
        },
      });
    const handler = handleJob(work, ({ job }) => void attempts.push(job.attempt));
    const server = new JobServer({ storage, ...patientServer, handlers: [handler] });
    await server.start();
    try {
      const ids: string[] = [];
      await eventually(async () => {
        ids.push((await new JobClient(storage).enqueue(work, {})).id);
        return lost > 0;
      });
      await eventually(
        () => storage.queues.find(queue),
        (found) => found?.counts.done === ids.length,
      );
      expect(attempts).to.deep.equal(ids.map(() => 1));
    } finally {
      storage.enqueuer.startOn = startOn;
      await server.stop();
    }
  });

  describe('is ready instead', () => {
    const cases: Record<string, (queue: string) => Promise<unknown>> = {
      'if the queue is paused': (queue) => storage.queues.pause(queue),
      'if the queue is limited': (queue) => storage.queues.limit(queue, { concurrencyLimit: 5 }),
      'if the job type is paused': (queue) => storage.jobTypes.pause(`work-${queue}`),
    };
    for (const [when, prepare] of Object.entries(cases))
      it(when, async () => {
        const queue = newQueue();
        const serverId = await registered(queue);
        await prepare(queue);
        const { server, id } = await enqueueBeside(serverId, queue);
        expect([server.releases, (await storage.jobs.find(id))?.state]).to.deep.equal([[1], 'enqueued']);
      });

    it('if the server is no longer registered', async () => {
      const { server, id } = await enqueueBeside(newId(), newQueue());
      expect([server.releases, (await storage.jobs.find(id))?.state]).to.deep.equal([[1], 'enqueued']);
    });
  });

  describe('is not offered to the server', () => {
    const options: Record<string, EnqueueOptions> = {
      'if it is scheduled': { delayMs: 60_000 },
      'if it has a unique key': { unique: { key: 'k' } },
      'if it has a concurrency key': { concurrency: { key: 'k', limit: 1 } },
    };
    for (const [when, given] of Object.entries(options))
      it(when, async () => {
        const queue = newQueue();
        const { server } = await enqueueBeside(await registered(queue), queue, given);
        expect([server.started, server.releases]).to.deep.equal([[], []]);
      });
  });
});
