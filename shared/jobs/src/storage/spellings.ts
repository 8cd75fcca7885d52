import { typosBetween } from './typos.js';

/** A search word or a similar word, whose occurrence in a text counts as a match. */
export interface Spelling {
  /** In lower case. */
  readonly text: string;
  /** Number of typos by which the text differs from the search word; 0 for the word itself. */
  readonly typos: number;
}

/** Maximum number of spellings of a search word, not counting the word itself. */
const maxOthers = 10;

/** Words of up to `literalLength` characters are taken literally; words of `longLength` or more may have two typos. */
const literalLength = 3;
const longLength = 8;

/** Maximum number of characters of an error that are searched for similar words. */
export const maxErrorText = 200;

/** Words of more than this many characters are taken literally. */
const longestWord = 100;

/**
 * Returns the number of typos that are tolerated in a word; 0 if the word is too short or too long, or contains digits,
 * because similar numbers mean different things.
 */
export function allowedTypos(word: string): number {
  if (word.length <= literalLength || word.length > longestWord || /\d/.test(word)) return 0;
  return word.length < longLength ? 1 : 2;
}

/**
 * Returns the spellings of each search word: the word itself, then words from `texts` that differ from it by no more
 * typos than {@link allowedTypos} allows, fewest typos first.
 *
 * @param texts the texts in which to find other spellings: names of jobs and queues, tags, errors
 */
export function spellingsOf(words: readonly string[], texts: Iterable<string>): Spelling[][] {
  const wanted = words.map((word) => word.toLowerCase());
  const known = wanted.some((word) => allowedTypos(word) > 0) ? wordsIn(texts) : [];
  return wanted.map((word) => [{ text: word, typos: 0 }, ...othersOf(word, known)]);
}

function othersOf(word: string, known: readonly string[]): Spelling[] {
  const maxTypos = allowedTypos(word);
  if (maxTypos === 0) return [];
  return known
    .flatMap((text) => {
      const typos = text.includes(word) ? undefined : typosBetween(word, text, maxTypos);
      return typos === undefined ? [] : [{ text, typos }];
    })
    .toSorted((one, other) => one.typos - other.typos || (one.text < other.text ? -1 : 1))
    .slice(0, maxOthers);
}

/**
 * Returns the words of texts in lower case, whole and in parts: for `mail.sendWelcome`, also `mail`, `sendwelcome`,
 * `send` and `welcome`.
 */
function wordsIn(texts: Iterable<string>): string[] {
  const found = new Set<string>();
  for (const text of texts) {
    for (const whole of text.split(/\s+/)) {
      const parts = whole.split(/[^\p{L}\p{N}]+/u);
      const humps = parts.flatMap((part) => part.split(/(?<=\p{Ll})(?=\p{Lu})/u));
      for (const word of [whole, ...parts, ...humps])
        if (word.length >= literalLength) found.add(word.toLowerCase());
    }
  }
  return [...found];
}

/**
 * Returns the total number of typos with which a text contains the search words; `undefined` if it does not contain
 * every word in some spelling.
 *
 * @param text in lower case
 */
export function typosOf(text: string, words: readonly (readonly Spelling[])[]): number | undefined {
  let typos = 0;
  for (const spellings of words) {
    const found = spellings.find((spelling) => text.includes(spelling.text));
    if (found === undefined) return undefined;
    typos += found.typos;
  }
  return typos;
}
