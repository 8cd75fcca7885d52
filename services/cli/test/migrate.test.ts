import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url));

describe('longshore migrate', () => {
  let database: TestDatabase;
  before(async () => (database = await createTestDatabase()));
  after(() => database.drop());

  const migrate = (...options: readonly string[]): { code: number | null; output: string } => {
    const env = { ...process.env, DATABASE_URL: database.url, API_AUTH: 'none', NODE_V8_COVERAGE: '' };
    const command = [main, 'migrate', '@longshore/example-shop', ...options];
    const { status, stdout, stderr } = spawnSync(process.execPath, command, { env, encoding: 'utf8' });
    return { code: status, output: stdout + stderr };
  };

  it('exits with 1 with --check until it has been run, and then with 0', () => {
    const before = migrate('--check');
    expect(before.output).to.contain('have not been run: longshore/001_jobs');
    expect(before.code).to.equal(1);
    expect(migrate().code).to.equal(0);
    const afterwards = migrate('--check');
    expect(afterwards.output).to.contain('all migrations have been run');
    expect(afterwards.code).to.equal(0);
  });
});
