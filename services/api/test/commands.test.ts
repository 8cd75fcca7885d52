import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));

describe('The program of the API', () => {
  it('refuses an unknown command and lists the known ones', () => {
    const options = ['--import', 'tsx', '--conditions=source', main];
    const { status, stdout } = spawnSync(process.execPath, [...options, 'sead'], { encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stdout).to.contain('Unknown command \\"sead\\": give seed or create-key, or no arguments');
  });
});
