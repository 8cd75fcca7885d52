import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { getJob, getJson, postTest } from './system/jobs.js';
import { startService, type Service } from './system/service.js';

describe('memory mode', () => {
  let api: Service;
  let results: string;

  before(async () => {
    results = await mkdtemp(path.join(tmpdir(), 'longshore-results-'));
    api = await startService('api', {
      API_STORAGE: 'memory',
      WORKER_RESULTS_DIR: results,
      API_TEST_JOB_MS: '10',
      API_SEED_ROWS: '20',
    });
  });
  after(async () => {
    await api?.end('SIGKILL');
    await rm(results, { recursive: true, force: true });
  });

  it('runs a job in the process of the API', async () => {
    const { location } = await postTest(api.url);
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    const servers = await getJson<{ pid: number }[]>(`${api.url}/api/v1/servers`);
    expect(servers.map(({ pid }) => pid)).to.deep.equal([api.pid]);
  });

  it('serves the tables of the application', async () => {
    const cars = await getJson<{ name: string }[]>(`${api.url}/api/v1/cars?q=avialable`);
    expect(cars).to.have.length.above(0);
  });

  it('shows the dashboard', async () => {
    const page = await fetch(`${api.url}/job-dashboard`);
    expect([page.status, await page.text()]).to.satisfy(
      ([status, html]: [number, string]) => status === 200 && html.includes('<html'),
    );
  });

  it('stops at SIGTERM', async () => {
    expect(await api.end('SIGTERM')).to.equal('exit 0');
  });
});
