import { expect } from 'chai';
import { run } from './system/process.js';
import { startPostgres, type Postgres } from './system/postgres.js';
import { startService, type Service } from './system/service.js';

describe('an api in production', () => {
  let postgres: Postgres;
  let api: Service;
  let key = '';

  before(async function () {
    this.timeout(60_000);
    postgres = await startPostgres();
    const environment = { DATABASE_URL: postgres.url, NODE_ENV: 'production' };
    // On an empty database, as when Longshore is first set up.
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
    expect(refused.lines.join()).to.contain('There is no scope');
  });
});
