import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '@longshore/local-postgres';
import { eventually } from '@longshore/test-support';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

describe('longshore dev', () => {
  let directory: string;
  let dev: ChildProcess;
  let output: string;

  /** Starts `longshore dev` without `DATABASE_URL`, in a directory that contains only an application without jobs. */
  const start = (port: number, env: Readonly<Record<string, string>> = {}): void => {
    output = '';
    dev = spawn(process.execPath, [main, 'dev', 'application.mjs', '--port', String(port)], {
      cwd: directory,
      env: { ...process.env, DATABASE_URL: '', NODE_V8_COVERAGE: '', ...env },
    });
    for (const stream of [dev.stdout, dev.stderr])
      stream?.on('data', (data: Buffer) => (output += data.toString()));
  };

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-dev-'));
    const application = "export const application = { name: 'empty', createHandlers: () => [] };";
    await writeFile(path.join(directory, 'application.mjs'), application);
  });
  afterEach(async () => {
    if (dev.exitCode === null) {
      dev.kill('SIGTERM');
      await once(dev, 'close');
    }
    await rm(directory, { recursive: true });
  });

  it('rejects a port on which any program listens', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0;
    try {
      start(port);
      const [code] = (await once(dev, 'close')) as [number];
      expect([code, output]).to.deep.equal([
        1,
        `longshore: Port ${port} is in use. Choose another one with --port\n`,
      ]);
    } finally {
      server.close();
    }
  });

  it('starts no Postgres with API_STORAGE=memory', async () => {
    start(await freePort(), { API_STORAGE: 'memory' });
    await eventually(
      () => output,
      (text) => dev.exitCode !== null || text.includes('Press Ctrl-C'),
    );
    expect(output).to.include('Longshore is up').and.not.include('Postgres');
  });
});
