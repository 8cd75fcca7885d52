import { compareTexts, isStorable, printable, shorten } from '@longshore/edge';
import { expect } from 'chai';

describe('shorten', () => {
  const letters = 'x'.repeat(99);
  for (const [what, character] of [
    ['an emoji', '😀'],
    ['a family, which is seven code points', '👨‍👩‍👧‍👦'],
    ['a flag', '🇩🇪'],
    ['a letter with an accent of its own', 'e\u0301'],
    ['a syllable of Hangul in three parts', '\u1112\u1161\u11ab'],
    ['a line break of two characters', '\r\n'],
  ] as const) {
    it(`never cuts inside ${what}`, () => {
      expect(shorten(letters + character, 100)).to.equal(letters);
      expect(shorten(character, character.length)).to.equal(character);
    });
  }

  it('cuts between code points inside a character that is longer than the limit', () => {
    const endless = `a${'\u0301'.repeat(300)}`;
    expect(shorten(endless, 100)).to.equal(endless.slice(0, 100));
    expect(shorten('👨‍👩‍👧‍👦', 4).isWellFormed()).to.equal(true);
  });

  it('is well-formed, whatever the text and the limit', () => {
    const text = '\ud83da😀\ude00👨‍👩‍👧‍👦🇩🇪e\u0301\ud83d';
    for (let max = 0; max <= text.length; max += 1) {
      const short = shorten(text, max);
      expect([short.isWellFormed(), short.length <= max], String(max)).to.deep.equal([true, true]);
    }
  });

  it('marks only a cut', () => {
    expect([shorten('abc', 3, '…'), shorten('abcd', 3, '…')]).to.deep.equal(['abc', 'abc…']);
  });
});

describe('isStorable', () => {
  for (const [text, storable] of [
    ['plain 😀', true],
    ['a\0b', false],
    ['\ud83d', false],
    ['\ude00\ud83d', false],
  ] as const)
    it(`is ${storable} for ${JSON.stringify(text)}`, () => expect(isStorable(text)).to.equal(storable));
});

describe('printable', () => {
  for (const [text, shown] of [
    ['\u001b[31mred\u001b[0m', String.raw`\x1b[31mred\x1b[0m`],
    ['\u009b31m', String.raw`\x9b31m`],
    ['bell\u0007 back\b line\n tab\t', String.raw`bell\x07 back\x08 line\x0a tab\x09`],
    ['\u202efdp.exe', String.raw`\u202efdp.exe`],
    ['\u2066isolate\u2069', String.raw`\u2066isolate\u2069`],
    ['lone \ud83d', String.raw`lone \ud83d`],
    ['München 東京 😀 שלום', 'München 東京 😀 שלום'],
  ] as const)
    it(`shows ${JSON.stringify(text)} as ${shown}`, () => expect(printable(text)).to.equal(shown));

  it('keeps what it is told to keep', () =>
    expect(printable('one\ntwo\u001b', '\n')).to.equal(String.raw`one` + '\n' + String.raw`two\x1b`));
});

describe('compareTexts', () => {
  it('sorts alphabetically, not by code points', () => {
    const texts = ['b', 'Zoë', 'ä', 'A', 'a', 'z', 'B', 'Äpfel', 'Zoe', '10', '9', '_', '😀'];
    expect(texts.toSorted(compareTexts)).to.deep.equal([
      '_',
      '😀',
      '10',
      '9',
      'a',
      'A',
      'ä',
      'Äpfel',
      'b',
      'B',
      'z',
      'Zoe',
      'Zoë',
    ]);
  });

  it('separates texts that the alphabet does not', () => {
    const [composed, decomposed] = ['\u00e9', 'e\u0301'];
    expect(compareTexts(composed, decomposed)).to.be.greaterThan(0);
    expect(compareTexts(decomposed, composed)).to.be.lessThan(0);
    expect(compareTexts('same', 'same')).to.equal(0);
  });
});
