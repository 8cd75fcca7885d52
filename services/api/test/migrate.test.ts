import { createTestDatabase, type TestDatabase } from '@longshore/test-support';
import { expect } from 'chai';
import { pino } from 'pino';
import { readApiConfig } from '../src/config.js';
import { checkMigrations, migrateAll } from '../src/commands.js';

describe('The command migrate', () => {
  const logger = pino({ level: 'silent' });
  let database: TestDatabase;

  const config = (application = '@longshore/example-shop'): ReturnType<typeof readApiConfig> =>
    readApiConfig({ DATABASE_URL: database.url, LONGSHORE_APP: application, API_AUTH: 'none' });
  const problem = (): Promise<string> =>
    checkMigrations(config(), logger).then(
      () => 'none',
      (error: unknown) => String(error),
    );

  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(() => database.drop());

  it('lists with --check what has not been run in any schema, and changes nothing', async () => {
    const message = await problem();
    for (const name of ['longshore/001_jobs', 'longshore_api/001_', 'shop/001_'])
      expect(message).to.contain(name);
    const schemas = await database.query(`select nspname from pg_namespace where nspname ~ 'longshore|shop'`);
    expect(schemas).to.deep.equal([]);
  });

  it('leaves nothing for --check to list', async () => {
    await migrateAll(config(), logger);
    expect(await problem()).to.equal('none');
  });

  it('lists with --check a migration that a newer version has added', async () => {
    await migrateAll(config(), logger);
    await database.query(`delete from longshore.migration where name = '010_redaction'`);
    expect(await problem()).to.match(/: 1 migration has not been run: longshore\/010_redaction\./);
  });
});
