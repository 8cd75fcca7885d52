import { expect } from 'chai';
import { nearestWord, typosBetween } from '../src/index.js';

/** The optimal string alignment distance by its definition, without any shortcut. */
function distance(one: string, other: string): number {
  const rows = Array.from({ length: one.length + 1 }, (_, row) =>
    Array.from({ length: other.length + 1 }, (__, place) =>
      row === 0 ? place : place === 0 ? row : Infinity,
    ),
  );
  const at = (row: number, place: number): number => rows[row]?.[place] ?? Infinity;
  for (let row = 1; row <= one.length; row++)
    for (let place = 1; place <= other.length; place++) {
      const swapped = one[row - 1] === other[place - 2] && one[row - 2] === other[place - 1];
      rows[row]?.splice(
        place,
        1,
        Math.min(
          at(row - 1, place) + 1,
          at(row, place - 1) + 1,
          at(row - 1, place - 1) + (one[row - 1] === other[place - 1] ? 0 : 1),
          swapped && row > 1 && place > 1 ? at(row - 2, place - 2) + 1 : Infinity,
        ),
      );
    }
  return at(one.length, other.length);
}

/** Returns every word of up to this many letters a and b. */
function wordsOf(length: number): string[] {
  const shorter = length === 0 ? [] : wordsOf(length - 1);
  const longest = shorter.filter((word) => word.length === length - 1);
  return length === 0 ? [''] : [...shorter, ...longest.flatMap((word) => [`${word}a`, `${word}b`])];
}

describe('The typos between two words', () => {
  for (const maxTypos of [0, 1, 2])
    it(`are those of the definition, up to ${maxTypos}, for all short words of two letters`, () => {
      const words = wordsOf(6);
      for (const one of words)
        for (const other of words) {
          const typos = distance(one, other);
          const found = typosBetween(one, other, maxTypos);
          if (found !== (typos <= maxTypos ? typos : undefined))
            expect.fail(`"${one}" and "${other}" differ by ${typos} typos, not ${found}`);
        }
    });
});

describe('The nearest word', () => {
  const names = ['WORKER_QUEUES', 'WORKER_THREADS', 'WORKER_THREAD'];

  it('is the one with the fewest typos', () => {
    expect(nearestWord('WORKER_THRAED', names, 3)).to.equal('WORKER_THREAD');
    expect(nearestWord('WORKER_THRAEDS', names, 3)).to.equal('WORKER_THREADS');
  });

  it('is none if each has too many', () => {
    expect(nearestWord('WORKER_VERSION', names, 3)).to.equal(undefined);
    expect(nearestWord('WORKER_QUEUES', [], 3)).to.equal(undefined);
  });

  it('is the first of several with as many', () => {
    expect(nearestWord('ad', ['ab', 'ac'], 1)).to.equal('ab');
  });
});
