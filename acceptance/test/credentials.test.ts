import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { commandsIn, ConsoleSession } from './docs/console-session.js';
import { house } from './house/house.js';
import { run } from './system/process.js';
import { startPostgres, type Postgres } from './system/postgres.js';
import { startService, type Service } from './system/service.js';

describe('an api in production', () => {
  let postgres: Postgres;
  let api: Service;
  let key = '';

  before(async () => {
    postgres = await startPostgres();
    const environment = { DATABASE_URL: postgres.url, NODE_ENV: 'production', LONGSHORE_TEST_JOB: 'true' };
    // Creates the key in an empty database, as an operator does before the first start.
    const created = run(
      'services/api/dist/main.js',
      ['create-key', '--name', 'operators', '--scopes', 'read,write'],
      environment,
    );
    expect(await created.ended).to.equal('exit 0');
    [key = ''] = created.lines;
    expect(created.lines).to.have.lengthOf(1);
    api = await startService('api', environment);
  });
  after(async () => {
    await api?.end('SIGTERM');
    await postgres?.remove();
  });

  const statuses = async (headers: Record<string, string>): Promise<number[]> => {
    const answers = [
      await fetch(`${api.url}/api/v1/jobs`, { headers }),
      await fetch(`${api.url}/test`, { method: 'POST', headers }),
    ];
    return answers.map(({ status }) => status);
  };

  it('has keys created by the commands of docs/access.md', async () => {
    const page = await readFile(path.join(house, 'docs/access.md'), 'utf8');
    const [, create = ''] = /^```sh\n(.*?)^```$/ms.exec(page) ?? [];
    const [, more = ''] = /^```console\n(.*?)^```$/ms.exec(page) ?? [];
    const places = { 'postgres://…': postgres.url, 'http://localhost:8080': api.url };
    const shell = new ConsoleSession(places, { cwd: house });
    const admin = await shell.outputOf(create);
    expect(admin).to.match(/^lsk_\S+\n$/);
    const caller = new ConsoleSession(places, { cwd: house, env: { ADMIN_KEY: admin.trim() } });
    const [command] = commandsIn(more);
    const created = JSON.parse(await caller.outputOf(command?.command ?? '')) as object;
    expect(created).to.include.keys('id', 'key');
  });

  it('rejects requests without a key', async () => {
    expect(await statuses({})).to.deep.equal([401, 401]);
  });

  it('accepts the key that the command printed', async () => {
    expect(await statuses({ authorization: `Bearer ${key}` })).to.deep.equal([200, 202]);
  });

  it('keeps the key out of its log', () => {
    expect(api.lines.join()).to.contain('"listening"').and.not.contain(key.slice(21));
  });

  it('rejects a new key with an unknown scope', async () => {
    const refused = run('services/api/dist/main.js', ['create-key', '--name', 'x', '--scopes', 'all'], {
      DATABASE_URL: postgres.url,
    });
    expect(await refused.ended).to.equal('exit 1');
    expect(refused.lines.join()).to.contain('--scopes[0] must be one of');
  });
});

describe('docs/dashboard.md', () => {
  it('has commands that hash a password for DASHBOARD_USERS', async () => {
    const page = await readFile(path.join(house, 'docs/dashboard.md'), 'utf8');
    const [, text = ''] = /^```console\n(.*?)^```$/ms.exec(page) ?? [];
    const session = new ConsoleSession({}, { cwd: house });
    for (const command of commandsIn(text)) await session.run(command);
  });
});
