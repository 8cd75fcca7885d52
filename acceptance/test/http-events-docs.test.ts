import { type ChildProcess, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ConsoleSession } from './docs/console-session.js';
import { house } from './house/house.js';
import { eventually } from '@longshore/test-support';
import { askUntilDone, type Job, postTest } from './system/jobs.js';
import { startService, type Service } from './system/service.js';

const page = await readFile(path.join(house, 'docs/http-events.md'), 'utf8');
const [wait = '', listen = ''] = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, text]) => text);
const [, documented = ''] = /^```text\n(.*?)^```$/ms.exec(page) ?? [];

describe('docs/http-events.md', () => {
  let api: Service;
  let listener: ChildProcess | undefined;

  before(async () => {
    const env = {
      API_STORAGE: 'memory',
      API_EMBEDDED_SERVER: 'true',
      API_AUTH: 'none',
      API_TEST_JOB_MS: '100',
    };
    api = await startService('api', env);
  });
  after(async () => {
    listener?.kill('SIGKILL');
    await api?.end('SIGKILL');
  });

  it('has a call that waits until a job has finished', async () => {
    const { location } = await postTest(api.url);
    const [id = ''] = /[\da-f-]{36}/.exec(wait) ?? [];
    const places = { 'http://localhost:8080': api.url, [id]: location.split('/').at(-1) ?? '' };
    const session = new ConsoleSession(places, { cwd: house });
    const [, seconds] = /wait=(\d+)/.exec(wait) ?? [];
    await askUntilDone(async () => JSON.parse(await session.outputOf(wait)) as Job, Number(seconds));
  });

  it('has a call that prints events as documented', async () => {
    let printed = '';
    const command = `exec ${listen.replace('http://localhost:8080', api.url)}`;
    listener = spawn('bash', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
    listener.stdout?.on('data', (data: Buffer) => (printed += data.toString()));
    await eventually(
      () => printed,
      (text) => text.includes('retry: '),
    );
    await postTest(api.url);
    await eventually(
      () => printed,
      (text) => /^data: .*\n/m.test(text),
    );
    const shape = (text: string): unknown => {
      const [, before = '', id = '', data = ''] = /^(.*?)^id: (.*?)\ndata: (.*?)\n/ms.exec(text) ?? [];
      return [before, Number.isNaN(Date.parse(id)), Object.keys(JSON.parse(data) as object)];
    };
    expect(shape(printed)).to.deep.equal(shape(documented));
  });
});
