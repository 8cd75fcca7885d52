import { readdir, readFile, writeFile } from 'node:fs/promises';
import { expect } from 'chai';

const source = new URL('../src/', import.meta.url);
const snapshot = new URL('statements.sql', import.meta.url);

/**
 * Every statement that does not depend on the request, as it is sent. After a change, rewrite the file with
 * `WRITE_STATEMENTS=1 npx mocha shared/jobs-postgres/test/statements.test.ts` and review its diff.
 */
describe('The static statements', () => {
  it('match statements.sql', async () => {
    const files = await readdir(source, { recursive: true });
    await Promise.all(
      files.filter((file) => file.endsWith('.sql.ts')).map((file) => import(`../src/${file}`)),
    );
    await import('../src/index.js');
    const { staticStatements } = await import('../src/connection/statement.js');
    const text = [...staticStatements()]
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, sql]) => `-- ${name}\n${outdented(sql)};\n`)
      .join('\n');
    if (process.env['WRITE_STATEMENTS'] !== undefined) await writeFile(snapshot, text);
    expect(text).to.equal(await readFile(snapshot, 'utf8'));
  });
});

function outdented(sql: string): string {
  const lines = sql.trimEnd().split('\n');
  if (lines[0]?.trim() === '') lines.shift();
  const depth = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(depth).trimEnd()).join('\n');
}
