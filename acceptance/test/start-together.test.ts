import { expect } from 'chai';
import pg from 'pg';
import { getJson } from './system/jobs.js';
import { untilReady } from './system/service.js';
import { useSystem } from './system/system.js';

const workers = 8;

/** Maximum number of sessions of ten services that start. */
const maxSessions = 50;

/** Counts the sessions of clients without pause until the signal aborts, and returns the largest number. */
async function mostSessions(observer: pg.Client, signal: AbortSignal): Promise<number> {
  let most = 0;
  while (!signal.aborted) {
    const { rows } = await observer.query<{ sessions: number }>(
      `select count(*)::integer as sessions from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    most = Math.max(most, rows[0]?.sessions ?? 0);
  }
  return most;
}

describe('an empty database', () => {
  const system = useSystem();

  it('is migrated by ten services that start concurrently, none fails, and they need few sessions', async () => {
    const observer = new pg.Client(system().postgres.url);
    await observer.connect();
    const started = new AbortController();
    const observing = mostSessions(observer, started.signal);
    const names = ['api', 'dashboard', ...Array.from({ length: workers }, () => 'worker' as const)] as const;
    const services = await Promise.all(names.map((name) => system().launch(name)));
    await Promise.all(services.map((service) => untilReady(service)));
    started.abort();
    const most = await observing;
    await observer.end();
    const servers = await getJson<unknown[]>(`${services[0]?.url}/api/v1/servers?limit=100`);
    expect(servers).to.have.length(workers);
    expect(most).to.be.within(services.length, maxSessions - 1);
  });
});
