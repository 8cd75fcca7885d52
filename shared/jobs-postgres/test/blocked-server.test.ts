import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { defineJob, handleJob, JobClient, JobServer } from '@longshore/jobs';
import { eventually, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

/** Server timeout, in milliseconds. Twice the minimum, because heartbeats can be seconds late on a busy machine. */
const serverTimeoutMs = 10_000;

/**
 * Returns the source of a program that rescues jobs in a loop until it receives input. It prints a line after the first
 * search, and at the end the number of searches and the total number of dead servers and lost jobs found.
 */
const rescuer = (url: string): string => `
  import { PostgresStorage } from ${JSON.stringify(new URL('../dist/index.js', import.meta.url).href)};
  const storage = new PostgresStorage({ url: ${JSON.stringify(url)} });
  let searches = 0, found = 0, ended = false;
  process.stdin.on('data', () => (ended = true));
  while (!ended) {
    const { deadServers, released, failed } = await storage.maintenance.rescue();
    if (searches++ === 0) console.log('searching');
    found += deadServers.length + released + failed;
    await new Promise((resolve) => setTimeout(resolve, 50)); // leaves the processor to those that are looked at
  }
  console.log(JSON.stringify({ searches, found }));
  await storage.close();
  process.exit();`;

describe('A server whose handler blocks the event loop', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url });
    await storage.open();
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('keeps its lease beyond its timeout, and the job runs once', async () => {
    const blocking = defineJob({ name: 'blocking' });
    let runs = 0;
    const handler = handleJob(blocking, () => {
      runs++;
      // Blocks without using the processor, because a busy loop would slow down tests that run concurrently.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, serverTimeoutMs + 1_500);
    });
    const other = spawn(process.execPath, ['--input-type=module', '-e', rescuer(database.url)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    await once(other.stdout, 'data'); // the first search has ended
    const server = new JobServer({ storage, handlers: [handler], serverTimeoutMs });
    await server.start();
    const { id } = await new JobClient(storage).enqueue(blocking, {});
    await eventually(async () => (await storage.jobs.find(id))?.state === 'done');
    other.stdin.end('stop');
    const [report] = (await once(other.stdout, 'data')) as [Buffer];
    await once(other, 'exit');
    await server.stop();
    const { searches, found } = JSON.parse(String(report)) as { searches: number; found: number };
    expect({ runs, found }).to.deep.equal({ runs: 1, found: 0 });
    expect(searches).to.be.greaterThan(10);
    expect((await storage.jobs.listAttempts(id)).map(({ outcome }) => outcome)).to.deep.equal(['done']);
  });
});
