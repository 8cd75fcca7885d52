import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import {
  createTestDatabase,
  eventually,
  patientServer,
  patientStorage,
  type TestDatabase,
} from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';

describe('A role that owns its schema and may create no other', () => {
  let database: TestDatabase;
  let role: string;
  let url: string;

  before(async () => {
    database = await createTestDatabase();
    role = `${database.name}_services`;
    await database.query(`create role ${role} login password 'none'`);
    await database.query(`create schema longshore authorization ${role}`);
    url = Object.assign(new URL(database.url), { username: role, password: 'none' }).href;
  });

  after(async () => {
    await database.query(`drop owned by ${role}`);
    await database.query(`drop role ${role}`);
    await database.drop();
  });

  it('can migrate, enqueue and run jobs', async () => {
    const storage = new PostgresStorage({ url, ...patientStorage });
    await storage.open();
    const greet = defineJob({ name: 'greet' });
    const server = new JobServer({
      storage,
      ...patientServer,
      handlers: [handleJob(greet, () => ({ done: true }))],
    });
    try {
      await server.start();
      const { id } = await new JobClient(storage).enqueue(greet, {});
      await eventually(
        () => storage.jobs.find(id),
        (job) => job?.state === 'done',
      );
    } finally {
      await server.stop();
      await storage.close();
    }
    const [rights] = await database.query<{ may: boolean }>(
      `select has_database_privilege($1, current_database(), 'CREATE') as may`,
      [role],
    );
    expect(rights?.may).to.equal(false);
  });
});
