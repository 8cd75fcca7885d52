import { expect } from 'chai';
import { readFile } from 'node:fs/promises';
import { errorCatalogue } from '@longshore/resources';

describe('docs/errors.md', () => {
  it('lists exactly the codes of the catalogue, with the same text', async () => {
    const page = await readFile(new URL('../../../docs/errors.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => /^\| \d/.test(line));
    const told = rows.map((line) => line.split('|').map((cell) => cell.trim()));
    const known = Object.entries(errorCatalogue).map(([code, { title, cause, fix }]) => [
      '',
      code,
      title,
      cause,
      fix,
      '',
    ]);
    expect(told).to.deep.equal(known);
  });
});
