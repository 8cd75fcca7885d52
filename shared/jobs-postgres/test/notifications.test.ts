import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { type Claims, newId, type Notification } from '@longshore/jobs/storage';
import {
  eventually,
  overriding,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import pg from 'pg';
import { queueDigest, readPayload } from '../src/notifications/notification-payload.js';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';
import { listen } from './support/heard.js';

describe('Notifications of a fleet', () => {
  const secret = defineJob({ name: 'work', queue: 'secret' });
  const failing = defineJob({ name: 'failing', queue: 'failing', maxAttempts: 2, retryDelay: [1] });
  let database: TestDatabase;
  let client: PostgresStorage;
  let connection: pg.Client;
  let heard: () => readonly string[];

  before(async () => {
    database = await createStoreDatabase();
    client = new PostgresStorage({ url: database.url, ...patientStorage });
    await client.open();
  });

  beforeEach(async () => {
    connection = new pg.Client(database.url);
    await connection.connect();
    heard = await listen(connection);
  });

  afterEach(() => connection.end());

  after(async () => {
    await client.close();
    await database.drop();
  });

  /** Returns what every process was notified of, up to now. */
  async function all(): Promise<readonly string[]> {
    await connection.query(`notify longshore, 'x end'`);
    const subjects = await eventually(heard, (some) => some.includes('end'));
    return subjects.filter((subject) => subject !== 'end');
  }

  it('are not sent for a job that is due in an hour, because every server looks for due jobs before', async () => {
    await new JobClient(client).enqueue(secret, {}, { delayMs: 3_600_000 });
    await new JobClient(client).enqueue(secret, {}); // sent after what the first call may have sent
    await eventually(heard, (subjects) => subjects.length > 0);
    expect(await all()).to.deep.equal([`ready:${queueDigest('secret')}`]);
  });

  it('do not contain the name of a queue', async () => {
    await new JobClient(client).enqueue(secret, {});
    const subjects = await eventually(heard, (some) => some.length > 0);
    expect(subjects.join(' ')).not.to.contain('secret');
  });

  it('are not sent for the retry of a job, because the server that ran it runs it again', async () => {
    let attempts = 0;
    const fail = (): void => {
      attempts++;
      throw new Error('on purpose');
    };
    // A poll could find the job before the notification, and a server that claims does not count as idle.
    const storage = overriding(client, { claims: { findReady: () => Promise.resolve([]) } });
    const server = new JobServer({ storage, ...patientServer, handlers: [handleJob(failing, fail)] });
    await server.start();
    try {
      await eventually(() => client.notificationsArrive);
      const { id } = await new JobClient(client).enqueue(failing, {});
      await eventually(
        () => client.jobs.find(id),
        (job) => job?.state === 'failed',
      );
      expect(attempts).to.equal(2);
      expect(await all()).to.deep.equal([]);
    } finally {
      await server.stop();
    }
    // What the server might not have done is handed over. The next test must not hear it.
    await eventually(heard, (subjects) => subjects.some((subject) => subject.startsWith('due:')));
  });

  it('of what a server was to do are sent to others when it stops', async () => {
    const server = new JobServer({ storage: client, ...patientServer, handlers: [] });
    await server.start();
    await new JobClient(client).enqueue(secret, {}, { delayMs: 10_000 });
    await new JobClient(client).enqueue(secret, {}, { delayMs: 3_600_000 });
    expect(await all()).to.deep.equal([]);
    await server.stop();
    const [subject] = await eventually(heard, (some) => some.some((each) => each !== 'end'));
    expect(subject === 'end' ? heard()[1] : subject).to.match(/^due:\d+$/);
  });

  it('of a commit make servers poll often if there was one, and not if somebody only claims it', async () => {
    let polls = 0;
    const findReady: Claims['findReady'] = (...call) => {
      polls++;
      return client.claims.findReady(...call);
    };
    const storage = overriding(client, { claims: { findReady } });
    const server = new JobServer({ storage, ...patientServer, handlers: [] });
    await server.start();
    try {
      await eventually(() => client.notificationsArrive);
      polls = 0;
      await connection.query(`notify longshore, '${newId()} * ready'`);
      await eventually(() => polls > 0);
      expect(client.notificationsArrive).to.equal(true);
      await database.query(`select longshore.enqueue('work', queue => 'secret')`);
      await eventually(() => !client.notificationsArrive);
    } finally {
      await server.stop();
    }
  });

  it('that nobody sends are ignored', () => {
    const queues = new Map([[queueDigest('mail'), 'mail']]);
    const read: Record<string, Notification | undefined> = {
      [`ready:${queueDigest('mail')}`]: { kind: 'ready', queue: 'mail' },
      [`ready:${queueDigest('other')}`]: undefined,
      'ready:mail': undefined,
      mail: undefined,
      'due:5': { kind: 'due', inMs: 5 },
      'due:-5': undefined,
      'due:NaN': undefined,
      'due:1e9': undefined,
      'due:99999999999999999999': undefined,
      'outbox:1': undefined,
      any: undefined,
      '*': undefined,
      '* none': undefined,
      outbox: { kind: 'outbox' },
      constructor: undefined,
      '': undefined,
    };
    for (const [payload, notification] of Object.entries(read))
      expect(readPayload(payload, queues), payload).to.deep.equal(notification);
  });
});
