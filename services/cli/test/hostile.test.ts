import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { serve, type TestServer } from '@longshore/test-support';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));
const hostile = '\u001b]0;title\u0007\u001b[31m\u009b2J\u202efdp.exe\r\u0000\u0008';

describe('foreign text on a terminal', () => {
  let installation: TestServer;
  before(async () => {
    const job = {
      id: '01a20472-5ed1-7102-9962-bf1f1a0fa733',
      name: hostile,
      queue: hostile,
      state: 'failed',
    };
    const whole = {
      ...job,
      attempt: 1,
      error: { name: hostile, message: hostile, stack: `${hostile}\n  at x` },
    };
    installation = await serve((request, response) => {
      response.setHeader('content-type', 'application/json');
      if (request.url?.includes('/logs') === true)
        response.end(JSON.stringify([{ at: '2026-01-01T00:00:00Z', level: 'info', message: hostile }]));
      else if (request.url?.includes('/queues') === true) {
        response.statusCode = 404;
        response.end(JSON.stringify({ errors: [{ internalMessage: hostile, code: 40402 }] }));
      } else response.end(JSON.stringify(request.url?.includes('/jobs/') === true ? whole : [whole]));
    });
  });
  after(() => installation.close());

  for (const args of [
    ['jobs'],
    ['jobs', '--json'],
    ['job', '01a20472-5ed1-7102-9962-bf1f1a0fa733'],
    ['logs', '01a20472-5ed1-7102-9962-bf1f1a0fa733', '--follow'],
    ['queues'],
  ])
    it(`is never printed raw by longshore ${args.join(' ')}`, async () => {
      const command = [main, ...args, '--url', installation.url];
      const { stdout, stderr } = await promisify(execFile)(process.execPath, command).catch(
        (error: unknown) => error as { stdout: string; stderr: string },
      );
      const printed = stdout + stderr;
      expect(printed).to.contain('fdp.exe');
      expect(printed).not.to.match(/[^\P{Cc}\n]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u);
    });
});
