import { turnsDuring } from '@longshore/test-support';
import { expect } from 'chai';
import { spellingsInSlices, spellingsOf } from '../src/index.js';

const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Returns a word of 49 letters that differs from others only at its end, so that comparing them takes longest. */
function longWord(count: number): string {
  const end = [count % 26, Math.floor(count / 26) % 26, Math.floor(count / 676) % 26].map((n) => letters[n]);
  return `${letters.slice(0, 23)}${letters.slice(0, 23)}${end.join('')}`;
}

describe('The spellings of search words', () => {
  const words = Array.from({ length: 10 }, (_, count) => longWord(count * 1_001));
  const texts = Array.from({ length: 2_000 }, (_, count) => `${longWord(count * 7)} ${longWord(count * 11)}`);

  it('are looked for in slices, between which other work runs', async () => {
    // Each of these comparisons takes longest; together, they take many times as long as a slice may, on any machine.
    expect(await turnsDuring(() => spellingsInSlices(words, texts))).to.be.at.least(5);
  });

  it('are the same in slices', async () => {
    const few = texts.slice(0, 50);
    expect(await spellingsInSlices(words, few)).to.deep.equal(spellingsOf(words, few));
  });
});
