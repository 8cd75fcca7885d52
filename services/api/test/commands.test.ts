import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

describe('The program of the API', () => {
  it('refuses an unknown command and lists the known ones', () => {
    const { status, stdout } = spawnSync(process.execPath, [main, 'sead'], { encoding: 'utf8' });
    expect(status).to.equal(1);
    expect(stdout).to.contain(
      'Unknown command \\"sead\\": give migrate or seed or create-key, or no arguments',
    );
  });
});
