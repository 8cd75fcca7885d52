import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { JobEvents } from '@longshore/jobs';
import type { FeedPage, FeedRequest } from '@longshore/jobs/storage';
import { eventually, patientStorage, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { PostgresStorage } from '../src/index.js';
import { createStoreDatabase } from './support/store-database.js';

const program = fileURLToPath(new URL('support/replaying-process.mjs', import.meta.url));

/** How many jobs ended within one second, an hour ago. */
const jobs = 100_000;

describe('Events of many jobs that ended at about the same time', () => {
  let database: TestDatabase;
  let storage: PostgresStorage;
  let since: Date;

  before(async () => {
    database = await createStoreDatabase();
    storage = new PostgresStorage({ url: database.url, ...patientStorage });
    await storage.open();
    // A few hundred jobs end in each millisecond, and none in the others.
    await database.query(
      `insert into longshore.job_history_done
        (queue_id, id, created_at, finished_at, started_at, server_id, priority, attempt, max_attempts, name, args, meta)
      select longshore.queue_number('planted', null), ('018f0000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, at, at, at,
        '018f0000-0000-7000-8000-000000000000', 0, 1, 1, 'planted', '{}', '{"tags": ["planted"]}'
      from generate_series(0, ${jobs} - 1) as n,
        lateral (select now() - interval '1 hour' + n / 300 * interval '3 milliseconds' as at) as ended`,
    );
    const [first] = await database.query<{ at: Date }>(
      'select min(finished_at) as at from longshore.job_history_done',
    );
    since = new Date((first?.at.getTime() ?? 0) - 1_000);
  });

  after(async () => {
    await storage.close();
    await database.drop();
  });

  it('are all delivered by a process with a heap of 48 MB', async () => {
    // Recording coverage needs more memory than the program.
    const { NODE_V8_COVERAGE: _coverage, ...env } = process.env;
    const node = ['--max-old-space-size=48', '--max-semi-space-size=2'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...node, program, database.url, since.toISOString(), String(jobs)],
      { env },
    );
    expect(JSON.parse(stdout)).to.deep.equal({ different: jobs, times: jobs });
  });

  it('are not read for a filter that matches none of them', async () => {
    const pages: FeedPage[] = [];
    const events = new JobEvents(counting(pages));
    const leave = new AbortController();
    const stream = events.listen({ tag: ['nothing'] }, since, leave.signal);
    const ended = stream[Symbol.asyncIterator]().next();
    await eventually(() => stream.position() !== null);
    leave.abort();
    await ended;
    await events.close();
    expect(pages.flatMap((page) => page.events)).to.deep.equal([]);
  });

  it('are read no further once the listener has left', async () => {
    const pages: FeedPage[] = [];
    const leave = new AbortController();
    const events = new JobEvents(counting(pages, () => leave.abort()));
    for await (const { event } of events.listen({ queue: ['planted'] }, since, leave.signal))
      expect(event.queue).to.equal('planted');
    await events.close();
    expect(pages).to.have.length(1);
  });

  /** Returns the storage, which adds the pages that are read for a filter to `pages`. */
  function counting(pages: FeedPage[], onPage?: () => void): ConstructorParameters<typeof JobEvents>[0] {
    const read = async (request: FeedRequest): Promise<FeedPage> => {
      const page = await storage.feed.read(request);
      if (request.filter === undefined) return page;
      pages.push(page);
      onPage?.();
      return page;
    };
    return {
      jobs: storage.jobs,
      feed: {
        read,
        readSettled: () => storage.feed.readSettled(),
        reportsOf: (id, from, limit) => storage.feed.reportsOf(id, from, limit),
      },
    };
  }
});
