import { typosBetween } from './typos.js';
import { fold, wordPattern } from './words.js';

/** A word that counts as a match if a text contains it: the search word itself or a similar word. */
export interface Spelling {
  /** The word, folded. */
  readonly text: string;
  /** Number of typos by which the spelling differs from the search word; 0 for the word itself. */
  readonly typos: number;
}

/** Maximum number of similar words to accept for each search word. */
const maxOthers = 10;

/** Words of up to this many letters must match exactly. */
const literalLength = 3;
/** Words of at least this many characters may contain two typos; shorter words may contain one. */
const longLength = 8;

/** Maximum number of adjacent parts of a word that also count as a word: `customer7@example` of `customer7@example.com`. */
const maxJoined = 3;

/** Number of characters at the start of an error that are searched for similar words. */
export const maxErrorText = 200;

/** Words of more than this many characters must match exactly. */
const longestWord = 100;

/**
 * Returns the number of typos that a search word may contain: 0 if it has too few letters, or is too long. The digits of
 * a word never contain typos, because similar numbers mean different things.
 */
export function allowedTypos(word: string): number {
  const letters = word.match(/\p{L}/gu)?.length ?? 0;
  if (letters <= literalLength || word.length > longestWord) return 0;
  return word.length < longLength ? 1 : 2;
}

function digitsOf(word: string): string {
  return word.replaceAll(/[^\p{N}]/gu, '');
}

/**
 * Returns the spellings of each search word: the word itself, followed by up to ten similar words from `texts`, fewest
 * typos first. {@link allowedTypos} limits how much a similar word may differ.
 *
 * @param texts the texts to take similar words from: names of jobs and queues, tags, recurring job ids, errors
 */
export function spellingsOf(words: readonly string[], texts: Iterable<string>): Spelling[][] {
  const wanted = words.map(fold);
  const known = wanted.some((word) => allowedTypos(word) > 0) ? wordsIn(texts) : [];
  return wanted.map((word) => [{ text: word, typos: 0 }, ...othersOf(word, known)]);
}

function othersOf(word: string, known: readonly string[]): Spelling[] {
  const maxTypos = allowedTypos(word);
  if (maxTypos === 0) return [];
  const digits = digitsOf(word);
  return known
    .flatMap((text) => {
      const isOther = !text.includes(word) && digitsOf(text) === digits;
      const typos = isOther ? typosBetween(word, text, maxTypos) : undefined;
      return typos === undefined ? [] : [{ text, typos }];
    })
    .toSorted((one, other) => one.typos - other.typos || (one.text < other.text ? -1 : 1))
    .slice(0, maxOthers);
}

/**
 * Returns the words that occur in the texts, folded, together with their parts. For example, `mail.sendWelcome`
 * yields `mail.sendwelcome`, `mail`, `sendwelcome`, `send` and `welcome`. Omits words of fewer than three characters.
 */
function wordsIn(texts: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const whole of text.split(/\s+/)) {
      const parts = [...whole.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index, 0: part }) => ({ index, part }));
      const joined = parts.flatMap(({ index }, first) =>
        parts
          .slice(first, first + maxJoined)
          .map((last) => whole.slice(index, last.index + last.part.length)),
      );
      const humps = parts.flatMap(({ part }) => part.split(/(?<=\p{Ll})(?=\p{Lu})/u));
      for (const word of [whole, ...joined, ...humps])
        if (word.length >= literalLength) found.add(fold(word));
    }
  }
  return [...found];
}

/**
 * Returns a function that finds each search word in a text, and returns the total number of typos; `undefined` if a word
 * is not found. The text need not be folded.
 *
 * @param words the spellings of each search word, fewest typos first, as returned by {@link spellingsOf}
 */
export function typosIn(words: readonly (readonly Spelling[])[]): (text: string) => number | undefined {
  const compiled = words.map((spellings) =>
    spellings.map(({ text, typos }) => ({ pattern: new RegExp(wordPattern(text), 'u'), typos })),
  );
  return (text) => {
    let typos = 0;
    for (const spellings of compiled) {
      const found = spellings.find(({ pattern }) => pattern.test(text));
      if (found === undefined) return undefined;
      typos += found.typos;
    }
    return typos;
  };
}
