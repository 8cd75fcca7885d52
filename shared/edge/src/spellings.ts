import { inSlices, mapInSlices } from './slices.js';
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

/** A word that occurs in the searched texts. */
interface KnownWord {
  readonly text: string;
  readonly digits: string;
}

/**
 * Returns the spellings of each search word: the word itself, followed by up to ten similar words from `texts`, fewest
 * typos first. {@link allowedTypos} limits how much a similar word may differ.
 *
 * @param texts the texts to take similar words from: names of jobs and queues, tags, recurring job ids, errors. A caller
 *   that does not limit their number and length uses {@link spellingsInSlices}
 */
export function spellingsOf(words: readonly string[], texts: Iterable<string>): Spelling[][] {
  const search = new SpellingSearch(words);
  if (search.isCertain) return search.spellings([]);
  for (const text of texts) search.read(text);
  return search.spellings(search.known.map((word) => search.compare(word)));
}

/** Like {@link spellingsOf}, but works in time slices, so that other requests are served in between. */
export async function spellingsInSlices(
  words: readonly string[],
  texts: readonly string[],
): Promise<Spelling[][]> {
  const search = new SpellingSearch(words);
  if (search.isCertain) return search.spellings([]);
  await inSlices(texts, (text) => search.read(text));
  return search.spellings(await mapInSlices(search.known, (word) => search.compare(word)));
}

/** Number of typos by which a known word differs from each search word; `undefined` if the words are not similar. */
type Typos = readonly (number | undefined)[];

/** Looks for words that are similar to search words. */
class SpellingSearch {
  readonly #words: readonly { readonly text: string; readonly digits: string; readonly maxTypos: number }[];
  readonly #knownWords = new Set<string>();

  constructor(words: readonly string[]) {
    this.#words = words.map(fold).map((text) => {
      return { text, digits: digitsOf(text), maxTypos: allowedTypos(text) };
    });
  }

  /** Whether no search word may contain a typo. */
  get isCertain(): boolean {
    return this.#words.every(({ maxTypos }) => maxTypos === 0);
  }

  /** The words that occur in the texts. */
  get known(): KnownWord[] {
    return [...this.#knownWords].map((text) => ({ text, digits: digitsOf(text) }));
  }

  /** Adds the words that occur in a text. */
  read(text: string): void {
    for (const word of wordsIn(text)) this.#knownWords.add(word);
  }

  compare({ text, digits }: KnownWord): { readonly text: string; readonly typos: Typos } {
    return {
      text,
      typos: this.#words.map((word) => {
        const isNear = word.maxTypos > 0 && Math.abs(word.text.length - text.length) <= word.maxTypos;
        if (!isNear || word.digits !== digits || text.includes(word.text)) return undefined;
        return typosBetween(word.text, text, word.maxTypos);
      }),
    };
  }

  /** @param compared the results of {@link compare} for all known words */
  spellings(compared: readonly { readonly text: string; readonly typos: Typos }[]): Spelling[][] {
    return this.#words.map((word, index) => {
      const similar = compared.flatMap(({ text, typos: { [index]: typos } }) =>
        typos === undefined ? [] : [{ text, typos }],
      );
      const nearest = similar
        .toSorted((one, other) => one.typos - other.typos || (one.text < other.text ? -1 : 1))
        .slice(0, maxOthers);
      return [{ text: word.text, typos: 0 }, ...nearest];
    });
  }
}

/**
 * Returns the words that occur in a text, folded, together with their parts. For example, `mail.sendWelcome`
 * yields `mail.sendwelcome`, `mail`, `sendwelcome`, `send` and `welcome`. Omits words of fewer than three characters.
 */
function wordsIn(text: string): string[] {
  return text.split(/\s+/).flatMap((whole) => {
    const parts = [...whole.matchAll(/[\p{L}\p{N}]+/gu)].map(({ index, 0: part }) => ({ index, part }));
    const joined = parts.flatMap(({ index }, first) =>
      parts.slice(first, first + maxJoined).map((last) => whole.slice(index, last.index + last.part.length)),
    );
    const humps = parts.flatMap(({ part }) => part.split(/(?<=\p{Ll})(?=\p{Lu})/u));
    return [whole, ...joined, ...humps].filter((word) => word.length >= literalLength).map(fold);
  });
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
      const spelling = spellings.find(({ pattern }) => pattern.test(text));
      if (spelling === undefined) return undefined;
      typos += spelling.typos;
    }
    return typos;
  };
}

/**
 * Returns the candidate of which a word is probably a misspelling: the one with the fewest typos; `undefined` if each has
 * more than `maxTypos`.
 *
 * @param typosOf returns the typos between the word and a candidate; default: {@link typosBetween}
 */
export function nearestWord(
  word: string,
  candidates: readonly string[],
  maxTypos: number,
  typosOf = typosBetween,
): string | undefined {
  let nearest: string | undefined;
  let fewest = Infinity;
  for (const candidate of candidates) {
    const typos = typosOf(word, candidate, maxTypos);
    if (typos === undefined || typos >= fewest) continue;
    nearest = candidate;
    fewest = typos;
  }
  return nearest;
}

/**
 * Returns the number of typos by which two words differ; `undefined` if more than `maxTypos`. Counts wrong, missing and
 * extra characters, and swapped neighbours (the optimal string alignment distance).
 *
 * Takes time in proportion to the length of the words times `maxTypos`: places that are further apart than `maxTypos` need
 * not be compared, because one typo moves the rest of a word by one place at most.
 */
export function typosBetween(one: string, other: string, maxTypos: number): number | undefined {
  if (Math.abs(one.length - other.length) > maxTypos) return undefined;
  const size = other.length + 1;
  let beforeLast = Array.from({ length: size }, () => Infinity);
  let last = Array.from({ length: size }, (_, column) => (column <= maxTypos ? column : Infinity));
  let current = Array.from({ length: size }, () => Infinity);
  for (let row = 1; row <= one.length; row++) {
    const [first, end] = [Math.max(1, row - maxTypos), Math.min(other.length, row + maxTypos)];
    current[first - 1] = first === 1 && row <= maxTypos ? row : Infinity;
    let least = at(current, first - 1);
    for (let column = first; column <= end; column++) {
      const isSame = one[row - 1] === other[column - 1];
      const isSwapped =
        row > 1 && column > 1 && one[row - 1] === other[column - 2] && one[row - 2] === other[column - 1];
      const typos = Math.min(
        column < row + maxTypos ? at(last, column) + 1 : Infinity,
        at(current, column - 1) + 1,
        at(last, column - 1) + (isSame ? 0 : 1),
        isSwapped ? at(beforeLast, column - 2) + 1 : Infinity,
      );
      current[column] = typos;
      least = Math.min(least, typos);
    }
    if (least > maxTypos) return undefined;
    [beforeLast, last, current] = [last, current, beforeLast];
  }
  const typos = at(last, other.length);
  return typos <= maxTypos ? typos : undefined;
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
