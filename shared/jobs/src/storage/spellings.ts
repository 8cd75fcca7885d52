import { typosBetween } from './typos.js';

/** A text that a word of a search may stand for. */
export interface Spelling {
  /** In lower case. */
  readonly text: string;
  /** How many typos lie between it and the word; 0: it is the word itself. */
  readonly typos: number;
}

/** Each word is looked for in at most this many spellings besides its own. */
const maxOthers = 10;

/** Words up to this length are taken literally, and those from this length on may have a second typo. */
const literalLength = 3;
const longLength = 8;

/** How many characters of an error misspelt words are compared with. */
export const maxErrorText = 200;

/** Longer words are taken literally. */
const longestWord = 100;

/** Returns how many typos a word may have. None if it has digits: numbers that look alike mean different things. */
export function typosIn(word: string): number {
  if (word.length <= literalLength || word.length > longestWord || /\d/.test(word)) return 0;
  return word.length < longLength ? 1 : 2;
}

/**
 * Returns the spellings of each word: the word itself, then the words of the texts that differ from it by no more typos than
 * {@link typosIn} allows, fewest typos first.
 *
 * @param texts what jobs carry: names of jobs and queues, tags, errors
 */
export function spellingsOf(words: readonly string[], texts: Iterable<string>): Spelling[][] {
  const wanted = words.map((word) => word.toLowerCase());
  const known = wanted.some((word) => typosIn(word) > 0) ? wordsIn(texts) : [];
  return wanted.map((word) => [{ text: word, typos: 0 }, ...othersOf(word, known)]);
}

function othersOf(word: string, known: readonly string[]): Spelling[] {
  const most = typosIn(word);
  if (most === 0) return [];
  return known
    .flatMap((text) => {
      const typos = text.includes(word) ? undefined : typosBetween(word, text, most);
      return typos === undefined ? [] : [{ text, typos }];
    })
    .toSorted((one, other) => one.typos - other.typos || (one.text < other.text ? -1 : 1))
    .slice(0, maxOthers);
}

/** Returns the words of texts, whole and in parts: of `mail.sendWelcome`, also `mail`, `sendwelcome`, `send` and `welcome`. */
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
 * Returns how many typos a text has in which every word occurs in one of its spellings; `undefined` if a word does not occur.
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
