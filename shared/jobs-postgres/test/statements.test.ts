import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';
import pg from 'pg';
import { createStoreDatabase } from './support/store-database.js';

const source = new URL('../src/', import.meta.url);
const snapshot = new URL('statements.sql', import.meta.url);

/**
 * Compares every statement whose text does not depend on the request with the snapshot in `statements.sql`. After a
 * change, update the snapshot with `WRITE_STATEMENTS=1 npx mocha shared/jobs-postgres/test/statements.test.ts` and
 * review its diff.
 */
describe('The static statements', () => {
  let statements: readonly (readonly [name: string, sql: string])[];

  before(async () => {
    const files = await readdir(source, { recursive: true });
    await Promise.all(
      files.filter((file) => file.endsWith('.sql.ts')).map((file) => import(`../src/${file}`)),
    );
    await import('../src/index.js');
    const { staticStatements } = await import('../src/connection/statement.js');
    statements = [...staticStatements()];
  });

  it('match statements.sql', async () => {
    const text = statements
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, sql]) => `-- ${name}\n${outdented(sql)};\n`)
      .join('\n');
    if (process.env['WRITE_STATEMENTS'] !== undefined) await writeFile(snapshot, text);
    expect(text).to.equal(await readFile(snapshot, 'utf8'));
  });

  it('join two of their own parts only if one of them is small, because hash joins are off', () => {
    const joined = statements.flatMap(([name, sql]) => {
      const parts = new Set(Array.from(sql.matchAll(/(\w+) as (?:materialized )?\(/g), ([, part]) => part));
      return Array.from(sql.matchAll(/from (\w+)\s+(?:left |cross )?join (\w+)/g))
        .filter(([, left, right]) => parts.has(left) && parts.has(right))
        .map(([, left, right]) => `${name}: ${left}, ${right}`);
    });
    expect(joined.toSorted()).to.deep.equal([
      'longshore-claim-within-limits: setting, claimed', // one of the two has only one row
      'longshore-declare-servers-dead: silent, dead', // at most as many rows as there are servers
      'longshore-resume-type-when-due: resumed, gap', // one of the two has only one row
      'longshore-resume-type: resumed, gap', // one of the two has only one row
      'longshore-sweep-unique: seen, stale', // at most 1,000 keys
    ]);
  });

  it('return nothing of the type void, which Prisma cannot read', async () => {
    const database = await createStoreDatabase();
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    for (const [name, text] of statements) await client.query(`prepare "${name}" as ${text}`);
    // Reads the column `result_types` through JSON, because Postgres 15 does not have this column.
    const { rows } = await client.query<{ name: string }>(
      `select name from pg_prepared_statements as prepared where to_jsonb(prepared) -> 'result_types' ? 'void'`,
    );
    await client.end();
    await database.drop();
    expect(rows).to.deep.equal([]);
  });
});

function outdented(sql: string): string {
  const lines = sql.trimEnd().split('\n');
  if (lines[0]?.trim() === '') lines.shift();
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(depth).trimEnd()).join('\n');
}
