import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { eventually, TcpProxy } from '@longshore/test-support';
import { expect } from 'chai';
import { house } from './house/house.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

/** An application with handlers that use its tables all the time, and go on after an error. */
const application = `
import { defineJob, handleJob } from '@longshore/jobs';

const busy = defineJob({ name: 'busy', queue: 'default' });

export const application = {
  name: 'busy',
  tables: {
    migrations: { directory: new URL('./migrations', import.meta.url), schema: 'busy' },
    resources: [],
  },
  createHandlers: ({ database }) => [
    handleJob(busy, async ({ log }) => {
      for (;;) {
        await database.query('select pg_sleep(0.01)').catch((error) => console.log('busy: ' + error));
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    }),
  ],
};
`;

describe('services that are asked to stop while Postgres is frozen', () => {
  const system = useSystem({
    WORKER_STOP_TIMEOUT_MS: '1000',
    HTTP_STOP_TIMEOUT_MS: '1000',
  });
  let directory: string;
  let proxy: TcpProxy;
  let services: Service[];

  before(async () => {
    await mkdir(path.join(house, '.data'), { recursive: true });
    directory = await mkdtemp(path.join(house, '.data', 'busy-'));
    await mkdir(path.join(directory, 'migrations'));
    await writeFile(path.join(directory, 'migrations', '001_nothing.sql'), '-- Up Migration\nselect 1;\n');
    const module = path.join(directory, 'application.mjs');
    await writeFile(module, application);
    const { url } = system().postgres;
    proxy = await TcpProxy.start(Number(new URL(url).port));
    const env = { LONGSHORE_APP: module, DATABASE_URL: proxy.urlOf(url) };
    services = [await system().start('worker', env), await system().start('api', env)];
  });

  after(async () => {
    await proxy.close();
    await rm(directory, { recursive: true, force: true });
  });

  it('stop, and do not use pools that they have closed', async () => {
    const [, api] = services;
    const jobs = `${api?.url}/api/v1/jobs`;
    const enqueue = async (): Promise<number> =>
      (
        await fetch(jobs, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'busy' }),
        })
      ).status;
    expect(await Promise.all([enqueue(), enqueue()])).to.deep.equal([201, 201]);
    const states = async (): Promise<string> => (await fetch(`${jobs}?state=processing`)).text();
    await eventually(states, (text) => text.split('"name":"busy"').length > 2);
    proxy.freeze();
    const waiting = enqueue().catch(() => 0);
    const endings = await Promise.all(services.map((service) => service.end('SIGTERM')));
    await waiting;
    expect(endings).to.deep.equal(['exit 0', 'exit 0']);
    const lines = services.flatMap((service) => service.lines);
    expect(lines.filter((line) => line.includes('after calling end'))).to.deep.equal([]);
  });
});
