import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

async function runMocha(fixture: string): Promise<{ status: unknown; output: string }> {
  const mocha = createRequire(import.meta.url).resolve('mocha/bin/mocha.js');
  const local = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
  const args = [
    '--no-config',
    '--timeout=0',
    '--require',
    local('../src/mocha.ts'),
    local(`fixtures/${fixture}`),
  ];
  const child = spawn(process.execPath, ['--import=tsx', '--conditions=source', mocha, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = new Promise<number | null>((resolve) => void child.once('close', resolve));
  const [out, err, status] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { status, output: out + err };
}

describe('a whole run', () => {
  it('fails when a database is never dropped, and says where it was created', async () => {
    const { status, output } = await runMocha('leaves-a-database.ts');
    expect(output).to.match(/were not dropped.*leaves-a-database\.ts/s);
    expect(status).to.be.greaterThan(0);
  });

  it('fails when something keeps it from ending, and reports what', async () => {
    const { status, output } = await runMocha('never-ends.ts');
    expect(output).to.match(/keeps the tests from ending: .*TCPServerWrap/i);
    expect(status).to.equal(1);
  });
});
