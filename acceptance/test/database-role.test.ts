import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { house } from './house/house.js';
import { startPostgres, type Postgres } from './system/postgres.js';
import { startService, type Service } from './system/service.js';

describe('the database role of docs/operations.md', () => {
  let postgres: Postgres;
  let api: Service | undefined;

  before(async () => void (postgres = await startPostgres()));
  after(async () => {
    await api?.end('SIGTERM');
    await postgres?.remove();
  });

  it('is all that the api and its application need, once the documented statements have run', async () => {
    const page = await readFile(path.join(house, 'docs/operations.md'), 'utf8');
    const [, section = ''] = page.split('\n## The database role\n');
    const [, documented = ''] = /^```sql\n(.*?)^```$/ms.exec(section) ?? [];
    // Renames the role, because this Postgres's superuser already has the documented name.
    const statements = documented.replaceAll(/(role|authorization) longshore\b/g, '$1 services');
    expect(statements).to.include('create role services').and.include('longshore authorization services');
    const admin = new pg.Client(postgres.url);
    await admin.connect();
    try {
      await admin.query(statements);
    } finally {
      await admin.end();
    }
    const url = new URL(postgres.url);
    url.username = 'services';
    url.password = /password '(.*?)'/.exec(statements)?.[1] ?? '';
    api = await startService('api', { DATABASE_URL: url.href, API_AUTH: 'none' });
    expect((await fetch(`${api.url}/api/v1/orders`)).status).to.equal(200);
  });
});
