import { expect } from 'chai';
import { fold, jsonWords, spellingsOf, typosIn, wordPattern } from '../src/index.js';

/** All characters of Unicode that have case, and one text with all others. */
const cased: string[] = [];
let others = '';
for (let code = 1; code < 0x11_00_00; code++) {
  const character = code >= 0xd8_00 && code < 0xe0_00 ? '' : String.fromCodePoint(code);
  if (/[\p{Changes_When_Casemapped}\p{Changes_When_Casefolded}]/u.test(character)) cased.push(character);
  else others += character;
}

/** A character, and what changing its case makes of it. */
function formsOf(character: string): string[] {
  const [upper, lower] = [character.toUpperCase(), character.toLowerCase()];
  return [character, upper, lower, upper.toLowerCase(), lower.toUpperCase()];
}

describe('Folding', () => {
  it('makes all forms of every character of Unicode equal, and changes nothing when repeated', () => {
    const wrong = cased.filter((character) => {
      const folded = fold(character);
      return fold(folded) !== folded || formsOf(character).some((form) => fold(form) !== folded);
    });
    expect(wrong).to.deep.equal([]);
    expect(cased).to.have.length.above(2_800);
    expect(fold(others)).to.equal(others);
  });

  it('folds a part of a text as within the text', () => {
    const texts = ['ΑΘΗΝΑΣ ΣΑΣ', 'İSTANBUL', 'STRAẞE straße', 'ǅungla', 'ﬃ', 'Ǆ\u0307i\u0307'];
    for (const text of texts)
      expect(fold(text)).to.equal(Array.from(text, fold).join('').replaceAll('i\u0307', 'i'));
  });

  for (const [one, other] of [
    ['İSTANBUL', 'istanbul'],
    ['istanbul', 'i\u0307stanbul'],
    ['ΑΘΗΝΑΣ', 'αθηνας'],
    ['STRASSE', 'straße'],
    ['STRAẞE', 'strasse'],
    ['OFFICE', 'oﬃce'],
    ['ǅungla', 'ǆungla'],
    ['ŉ', 'ʼN'],
    ['ᾳ', 'ΑΙ'],
  ] as const) {
    it(`makes ${one} and ${other} equal`, () => {
      expect(fold(one)).to.equal(fold(other));
      for (const text of [one, other])
        expect(`(${text})`).to.match(new RegExp(wordPattern(fold(one === text ? other : one)), 'u'));
    });
  }
});

describe('The pattern of a word', () => {
  it('matches every form of every character of Unicode', () => {
    const wrong = cased.filter((character) => {
      const pattern = new RegExp(`^a${wordPattern(fold(character))}b$`, 'u');
      return formsOf(character).some((form) => !pattern.test(`a${form}b`));
    });
    expect(wrong).to.deep.equal([]);
  });

  it('matches a run of letters however it is written, and stays short', () => {
    const run = 's'.repeat(29);
    const pattern = wordPattern(run);
    expect(pattern.length).to.be.below(5_000);
    const whole = new RegExp(`^${pattern}$`, 'u');
    for (const text of [run.toUpperCase(), `${'ß'.repeat(14)}s`, `s${'ẞ'.repeat(14)}`, `${'sßs'.repeat(7)}s`])
      expect(whole.test(text), text).to.equal(true);
    expect(whole.test('s'.repeat(28))).to.equal(false);
    expect(whole.test('ß'.repeat(15))).to.equal(false);
  });
});

describe('Words in JSON', () => {
  for (const text of [
    String.raw`C:\temp\r7.pdf`,
    'say "yes"',
    String.raw`\\u0041\n`,
    'a\tb\nc',
    '\\',
    String.raw`\"`,
    'İß',
  ]) {
    it(`contain ${JSON.stringify(text)} as it is`, () => {
      expect(jsonWords(JSON.stringify({ text }))).to.contain(text);
    });
  }

  it('contain control characters, which JSON escapes', () => {
    const found = typosIn(spellingsOf(['a\x02b'], []));
    expect(found(jsonWords(JSON.stringify(['a\x02b'])))).to.equal(0);
  });

  it('have the spaces that Postgres prints', () => {
    expect(jsonWords('{"a,b":[1,"x:y"],"c": 2}')).to.equal('{"a,b": [1, "x:y"], "c": 2}');
  });
});
