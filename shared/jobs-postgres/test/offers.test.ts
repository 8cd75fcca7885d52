import { randomUUID } from 'node:crypto';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import {
  eventually,
  overriding,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { queueDigest } from '../src/notifications/notification-payload.js';
import { PostgresStorage } from '../src/index.js';
import { listen } from './support/heard.js';
import { createStoreDatabase } from './support/store-database.js';

/** What is known of a server that another process runs, or ran before it froze. */
interface Row {
  readonly queues: string;
  readonly concurrency: number;
  readonly processing: number;
  readonly state: string;
  readonly job_names: string | null;
  readonly silent: string;
}

describe('Few ready jobs', () => {
  const work = defineJob({ name: 'work', queue: 'work' });
  const everyone = `ready:${queueDigest('work')}`;
  let database: TestDatabase;
  let storage: PostgresStorage;
  let client: JobClient;
  let connection: pg.Client;
  let heard: () => readonly string[];

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    client = new JobClient(storage);
  });

  beforeEach(async () => {
    connection = new pg.Client(database.url);
    await connection.connect();
    heard = await listen(connection);
  });

  afterEach(async () => {
    await connection.end();
    await database.query('delete from longshore.server');
    await database.query('delete from longshore.job');
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  /** Registers a server that no process runs. */
  async function register(row: Partial<Row> = {}): Promise<string> {
    const given: Row = {
      queues: '{other,work}',
      concurrency: 10,
      processing: 9,
      state: 'running',
      job_names: '{work,play}',
      silent: '0',
      ...row,
    };
    const id = randomUUID();
    await database.query(
      `insert into longshore.server (id, host, pid, queues, concurrency, processing, state, job_names, timeout_ms, heartbeat_at)
      values ($1, 'host', 1, $2, $3, $4, $5, $6, 10000, now() - $7::interval)`,
      [id, given.queues, given.concurrency, given.processing, given.state, given.job_names, given.silent],
    );
    return id;
  }

  const first = async (): Promise<string | undefined> => {
    await eventually(heard, (subjects) => subjects.length > 0);
    return heard()[0];
  };

  it('are offered to a server that can run them', async () => {
    const id = await register();
    await client.enqueue(work);
    expect(await first()).to.equal(`offer:${queueDigest('work')}:1:${id}`);
  });

  const unable: Readonly<Record<string, Partial<Row>>> = {
    'consumes other queues': { queues: '{other}' },
    'has no free slot': { processing: 10 },
    'claims no more jobs': { state: 'quiet' },
    'is stopping': { state: 'stopping' },
    'has no handler for them': { job_names: '{play}' },
    'has been silent': { silent: '6 seconds' },
  };
  for (const [reason, row] of Object.entries(unable))
    it(`are not offered to a server that ${reason}`, async () => {
      await register(row);
      await client.enqueue(work);
      expect(await first()).to.equal(everyone);
    });

  it('are not offered to a single server if they are many', async () => {
    await register({ concurrency: 1_000 });
    await client.enqueueMany(Array.from({ length: 9 }, () => ({ definition: work })));
    expect(await first()).to.equal(everyone);
  });

  it('start on another server, without a poll, if the one to which they were offered does nothing', async () => {
    await register();
    const server = await startBlind();
    try {
      await eventually(() => server.storage.notificationsArrive);
      await database.query(`update longshore.server set processing = concurrency where id = $1`, [server.id]);
      const { id } = await client.enqueue(work);
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
      const subjects = heard().map((subject) => subject.slice(0, 5));
      expect(subjects.filter((kind) => kind === 'offer' || kind === 'ready')).to.deep.equal([
        'offer',
        'ready',
      ]);
    } finally {
      await stop(server);
    }
  });

  it('are looked after by a client that closes its storage at once', async () => {
    await register();
    const brief = new PostgresStorage({ url: database.url, ...patientStorage });
    await brief.open();
    await new JobClient(brief).enqueue(work);
    await brief.close();
    await eventually(heard, (subjects) => subjects.includes(everyone));
  });

  /** Starts a server whose polls find nothing, so that only notifications make it claim. */
  async function startBlind(): Promise<JobServer> {
    const own = new PostgresStorage({ url: database.url, ...patientStorage });
    await own.open();
    const server = new JobServer({
      storage: overriding(own, { claims: { findReady: async () => [] } }),
      ...patientServer,
      handlers: [handleJob(work, () => undefined)],
    });
    await server.start();
    return server;
  }

  async function stop(server: JobServer): Promise<void> {
    await server.stop();
    await (server.storage as PostgresStorage).close();
  }
});
