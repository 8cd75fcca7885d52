import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryDatabase } from '@longshore/resources/memory-database';
import { expect } from 'chai';

describe('The tables of an application in memory', () => {
  it('name the migration that failed', async () => {
    const directory = await mkdtemp(path.join(tmpdir(), 'migrations-'));
    await writeFile(path.join(directory, '001_shop.sql'), '-- Up Migration\ncreate table shop (id int);');
    await writeFile(
      path.join(directory, '002_order.sql'),
      '-- Up Migration\ncreate tabel shop_order (id int);',
    );
    const database = new MemoryDatabase();
    await database.migrate({ directory: pathToFileURL(directory), schema: 'shop' });
    const error: unknown = await database.query('select').catch((thrown: unknown) => thrown);
    expect(error)
      .to.have.property('message')
      .that.matches(/The migration 002_order in .* failed: .*"tabel"/);
    await database.close();
    await rm(directory, { recursive: true });
  });
});
