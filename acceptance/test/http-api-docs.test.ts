import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { house } from './house/house.js';
import { startService, type Service } from './system/service.js';

const run = promisify(execFile);

const page = 'docs/http-api.md';
const block = /^```sh\n(?<commands>(?:(?!```).)*)^```\n\s*^```text\n(?<output>(?:(?!```).)*)^```$/gms;
const text = await readFile(path.join(house, page), 'utf8');

describe('a call in the documentation of the HTTP API', () => {
  let api: Service;
  let results: string;

  before(async () => {
    results = await mkdtemp(path.join(tmpdir(), 'longshore-results-'));
    // The documented jobs are in the queue `slow`. The server inside the API process does not consume this queue, so
    // the states of these jobs do not change.
    api = await startService('api', { API_STORAGE: 'memory', API_AUTH: 'none', WORKER_RESULTS_DIR: results });
  });
  after(async () => {
    await api?.end('SIGKILL');
    await rm(results, { recursive: true, force: true });
  });

  // The tests run in the order of the page, because calls depend on earlier calls.
  for (const { index, groups } of text.matchAll(block)) {
    const line = text.slice(0, index).split('\n').length;
    it(`returns the documented response (${page}:${line})`, async () => {
      const { stdout } = await run('bash', ['-ec', groups?.['commands'] ?? ''], {
        env: { PATH: process.env['PATH'], API: `${api.url}/api/v1` },
      });
      expect(stdout).to.equal(groups?.['output']);
    });
  }
});
