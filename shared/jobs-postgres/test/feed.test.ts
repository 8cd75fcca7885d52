import { type Claim, finishedStates, newId, positionAt } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

describe('The feed of Postgres', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  beforeEach(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
  });
  afterEach(async () => {
    await storage.close();
    await database.drop();
  });

  async function claim(count: number): Promise<Claim[]> {
    const jobs = Array.from({ length: count }, () => ({
      id: newId(),
      name: 'fed',
      queue: 'default',
      priority: 0,
      args: '{}',
      maxAttempts: 1,
      due: null,
    }));
    await storage.enqueuer.enqueue(jobs);
    const server = { host: 'x', pid: 1, queues: ['default'], concurrency: 1, timeoutMs: 3_600_000 };
    const { id: serverId } = await storage.servers.register(server);
    const claimed = await storage.claims.claim({
      serverId,
      queue: 'default',
      limit: count,
      leaseMs: 3_600_000,
    });
    return claimed.map((job) => job.claim);
  }

  const done = (claims: readonly Claim[]): Promise<Claim[]> =>
    storage.completions.complete(
      claims.map((one) => ({ claim: one, outcome: { kind: 'done', result: 'null' } })),
    );

  /** Returns the ids of the jobs that have ended since `since`, and the time from which to resume reading. */
  async function read(since: Date): Promise<{ ids: string[]; resumeAt: Date }> {
    const request = { from: positionAt(since), limit: 1_000, topics: finishedStates };
    const { events, settled } = await storage.feed.read(request);
    return { ids: events.map(({ jobId }) => jobId), resumeAt: settled };
  }

  it('contains an end that commits after later ones have been read', async () => {
    const [slow, ...others] = await claim(5);
    if (slow === undefined) throw new Error('There was nothing to claim');
    let resumeAt = await storage.feed.readSettled();
    const told: string[] = [];
    const readOn = async (): Promise<void> => {
      const page = await read(resumeAt);
      told.push(...page.ids);
      resumeAt = page.resumeAt;
    };
    await storage.completions.completeInTransaction(slow, async () => {
      await done(others);
      await eventually(async () => {
        await readOn();
        const [ends] = await database.query<{ longAgo: boolean }>(
          `select max(finished_at) < now() - interval '1 second' as "longAgo" from longshore.job_history`,
        );
        return ends?.longAgo;
      });
      expect(told).to.include.members(others.map(({ jobId }) => jobId));
      expect(told).not.to.include(slow.jobId);
      return 'null';
    });
    await readOn();
    expect(told).to.include(slow.jobId);
  });

  it('returns each event once after the resume position has passed it', async () => {
    await done(await claim(3));
    const ended = await storage.readClock();
    let resumeAt = await storage.feed.readSettled();
    await eventually(async () => {
      ({ resumeAt } = await read(resumeAt));
      return resumeAt > ended;
    });
    const [late] = await claim(1);
    if (late === undefined) throw new Error('There was nothing to claim');
    await done([late]);
    expect((await read(resumeAt)).ids).to.deep.equal([late.jobId]);
  });
});
