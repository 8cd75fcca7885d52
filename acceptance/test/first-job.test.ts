import { readFile, readdir } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '@longshore/test-support';
import { getJob, getJson, postTest } from './system/jobs.js';
import type { Service } from './system/service.js';
import { useSystem } from './system/system.js';

describe('a first job', () => {
  const system = useSystem({ API_TEST_JOB_MS: '100' });
  let api: Service;

  before(async () => {
    [api] = await Promise.all([system().start('api'), system().start('worker'), system().start('dashboard')]);
  });

  it('is accepted with 202, text/plain, ok and its address', async () => {
    const { status, type, body, location } = await postTest(api.url);
    expect([status, type?.split(';')[0], body]).to.deep.equal([202, 'text/plain', 'ok']);
    expect(location.startsWith(`${api.url}/api/v1/jobs/`), location).to.equal(true);
  });

  it('is accepted without waiting for its end: the response arrives although the job never ends', async () => {
    const { url } = await system().start('api', { API_TEST_JOB_MS: '3600000' });
    const { status, location } = await postTest(url);
    expect(status).to.equal(202);
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'processing',
    );
  });

  it('is processing, then done with its result', async () => {
    const { location } = await postTest(api.url);
    const done = await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    expect(done.attempt).to.equal(1);
    expect(done.result).to.be.an('object');
    const transitions = await getJson<{ state: string }[]>(`${location}/transitions?sort=+at`);
    expect(transitions.map(({ state }) => state)).to.deep.equal(['enqueued', 'processing', 'done']);
  });

  it('leaves its small result file', async () => {
    const { location } = await postTest(api.url);
    const id = location.split('/').at(-1) ?? '';
    await eventually(
      () => getJob(location),
      ({ state }) => state === 'done',
    );
    const file = (await readdir(system().results)).find((name) => name.includes(id));
    expect(await readFile(path.join(system().results, file ?? ''), 'utf8')).to.include(id);
  });
});
