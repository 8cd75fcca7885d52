import { expect } from 'chai';
import pg from 'pg';
import { eventually } from '@longshore/test-support';
import { type ControllableJobs, createControllableJobs } from './system/held-job.js';
import { enqueue, getJob } from './system/jobs.js';
import { useSystem } from './system/system.js';

describe('a worker that is killed during a job', () => {
  const system = useSystem();
  let held: ControllableJobs;
  let database: pg.Client;

  before(async () => {
    held = await createControllableJobs();
    database = new pg.Client(system().postgres.url);
    database.on('error', () => undefined); // ignored, because Postgres may stop before this client disconnects
    await database.connect();
  });
  after(async () => {
    await database.end();
    await held.remove();
  });

  it('loses nothing: the job runs again on another worker and is done with its next attempt', async () => {
    const env = { LONGSHORE_APP: held.application };
    const api = await system().start('api', env);
    const doomed = await system().start('worker', { ...env, WORKER_SERVER_TIMEOUT_MS: '5000' });
    const location = await enqueue(api.url, 'held');
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'processing',
    );
    await doomed.end('SIGKILL');
    const lost = await getJob(location);
    await held.finish();
    // The other worker looks for dead servers when it starts, and then only after many minutes.
    await eventually(
      async () =>
        (
          await database.query<{ silent: boolean }>(
            `select id, now() - heartbeat_at > timeout_ms * interval '1 millisecond' as silent from longshore.server`,
          )
        ).rows,
      (servers) => servers.length === 1 && servers[0]?.silent === true,
    );
    await system().start('worker', env);

    const done = await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    expect(done.attempt).to.equal(lost.attempt + 1);
    expect(done.serverId).to.not.equal(lost.serverId);
  });
});
