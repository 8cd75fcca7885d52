import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { apiChangelog } from '../src/api-changelog.js';

describe('docs/api-changelog.md', () => {
  it('lists exactly the changes that the reference shows, newest first', async () => {
    const page = await readFile(new URL('../../../docs/api-changelog.md', import.meta.url), 'utf8');
    const rows = page.split('\n').filter((line) => /^\| \d/.test(line));
    const listed = rows.map((row) => row.split('|').map((cell) => cell.trim()));
    expect(listed).to.deep.equal(apiChangelog.map(({ date, text }) => ['', date, text, '']));
    const dates = apiChangelog.map(({ date }) => date);
    expect(dates).to.deep.equal(dates.toSorted().toReversed());
  });
});
