const maxWords = 10;

/** Splits a search text into words at whitespace. Ignores all words after the tenth. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}

const ascii = /^[\0-\x7f]*$/;

/** The combining dot above. `İ` in lower case is `i` with this dot, so the dot means nothing after an `i`. */
const dot = '\u0307';
const dottedI = new RegExp(`i${dot}+`, 'g');

/**
 * Folds the case of a text, so that texts which differ only by case become equal: `ΑΘΗΝΑΣ` and `αθηνας`, `STRASSE` and
 * `straße`, `İSTANBUL` and `istanbul`, `ﬁn` and `FIN`. Folds each character by itself, so that a part of a text folds as
 * it does within the text.
 */
export function fold(text: string): string {
  if (ascii.test(text)) return text.toLowerCase();
  return Array.from(text, foldCharacter).join('').replaceAll(dottedI, 'i');
}

function foldCharacter(character: string): string {
  return character.toLowerCase().toUpperCase().toLowerCase();
}

/**
 * Returns a regular expression that matches a word in any case, in a text that is not folded: it matches where {@link
 * fold} of the text contains the word, in whole characters of the text. It means the same in JavaScript (with the flag
 * `u`) and in Postgres, whatever the locale of the database, because it lists the characters and uses no flag that
 * ignores case.
 *
 * @param word the word, folded
 */
export function wordPattern(word: string): string {
  const characters = Array.from(word);
  const expansions = characters.length > longestExpanded ? [] : placesOfExpansions(characters);
  const pattern = patternOf(characters, expansions);
  return pattern.length > longestPattern ? patternOf(characters, []) : pattern;
}

function patternOf(characters: readonly string[], expansions: readonly Expansion[]): string {
  let pattern = '';
  for (let start = 0; start < characters.length;) {
    const end = endOfSpan(start, expansions);
    pattern += span(characters, start, end, expansions);
    start = end;
  }
  return pattern;
}

/**
 * In a word with more characters, or with a longer pattern, such as one of 40 times the letter s, `ß` and ligatures are
 * not found by the letters that they stand for. Compiling a long pattern takes long.
 */
const longestExpanded = 200;
const longestPattern = 5_000;

/** A character that folds to several, such as `ß`, where its folding occurs in a word. */
interface Expansion {
  readonly start: number;
  readonly end: number;
  readonly pattern: string;
}

function placesOfExpansions(characters: readonly string[]): Expansion[] {
  const { expanding } = variants();
  return characters.flatMap((_, start) =>
    [2, 3].flatMap((length) => {
      const end = start + length;
      const written = expanding.get(characters.slice(start, end).join(''));
      const isWhole = end <= characters.length;
      return written === undefined || !isWhole
        ? []
        : [{ start, end, pattern: `[${written}]${characters[end - 1] === 'i' ? `${dot}*` : ''}` }];
    }),
  );
}

/** Returns the end of the part from `start` on that overlapping expansions connect. */
function endOfSpan(start: number, expansions: readonly Expansion[]): number {
  let end = start + 1;
  for (const expansion of expansions)
    if (expansion.start >= start && (expansion.start < end || expansion.start === start))
      end = Math.max(end, expansion.end);
  return end;
}

/**
 * Returns a pattern for every way to write a part of a word, with characters that expand and without: either no
 * character crosses its middle, or one of the expansions does. The pattern of a long run such as `ffffffff` thus grows
 * with the square of its length instead of exponentially.
 */
function span(
  characters: readonly string[],
  start: number,
  end: number,
  expansions: readonly Expansion[],
): string {
  const within = expansions.filter((expansion) => expansion.start >= start && expansion.end <= end);
  if (within.length === 0) return characters.slice(start, end).map(one).join('');
  const middle = Math.floor((start + end) / 2);
  const crossing = within.filter((expansion) => expansion.start < middle && expansion.end > middle);
  const part = (from: number, to: number): string => span(characters, from, to, within);
  const ways = [
    part(start, middle) + part(middle, end),
    ...crossing.map(
      (expansion) => part(start, expansion.start) + expansion.pattern + part(expansion.end, end),
    ),
  ];
  return ways.length === 1 ? ways.join('') : `(?:${ways.join('|')})`;
}

/** Returns a pattern for the characters that fold to one character. */
function one(character: string): string {
  const otherCases = variants().single.get(character);
  const pattern = otherCases === undefined ? literal(character) : `[${character}${otherCases}]`;
  return character === 'i' ? `${pattern}${dot}*` : pattern;
}

function literal(character: string): string {
  if (/[$()*+./?[\\\]^{|}]/.test(character)) return `\\${character}`;
  if (character >= ' ') return character;
  // JSON shows control characters as escapes, and Postgres searches the text of JSON.
  return `(?:${character}|\\\\u${character.charCodeAt(0).toString(16).padStart(4, '0')})`;
}

/** Other characters by what they fold to. */
interface Variants {
  readonly single: ReadonlyMap<string, string>;
  readonly expanding: ReadonlyMap<string, string>;
}

/** The parts of Unicode that have letters with case. */
const casedRanges: readonly (readonly [from: number, to: number])[] = [
  [0x41, 0x5_90],
  [0x10_a0, 0x11_00],
  [0x13_a0, 0x14_00],
  [0x1c_80, 0x20_00],
  [0x20_70, 0x25_00],
  [0x2c_00, 0x2e_00],
  [0xa6_40, 0xac_00],
  [0xfb_00, 0xfb_50],
  [0xff_20, 0xff_60],
  [0x1_04_00, 0x1_06_00],
  [0x1_0c_80, 0x1_0e_00],
  [0x1_18_a0, 0x1_19_00],
  [0x1_6e_40, 0x1_6f_00],
  [0x1_e9_00, 0x1_ea_00],
];

let cachedVariants: Variants | undefined;

function variants(): Variants {
  if (cachedVariants !== undefined) return cachedVariants;
  const single = new Map<string, string>();
  const expanding = new Map<string, string>();
  for (const [from, to] of casedRanges) {
    for (let code = from; code < to; code++) {
      const character = String.fromCodePoint(code);
      const folded = fold(character);
      if (folded === character) continue;
      const isSingle = folded.length === String.fromCodePoint(folded.codePointAt(0) ?? 0).length;
      const map = isSingle ? single : expanding;
      map.set(folded, (map.get(folded) ?? '') + character);
    }
  }
  cachedVariants = { single, expanding };
  return cachedVariants;
}

/**
 * Returns the text of JSON without its escapes, so that words can be searched in it as they are in its strings. Control
 * characters other than whitespace and the backspace stay escaped ({@link wordPattern} matches them in both forms).
 *
 * @param json JSON with a space after each comma and colon, as Postgres prints it; this is added where it is missing
 */
export function jsonWords(json: string): string {
  const spaced = json.replaceAll(/"(?:[^"\\]|\\.)*"|[,:]\s*/g, (part) =>
    part.startsWith('"') ? part : `${part.trim()} `,
  );
  return jsonEscapes.reduce((text, [escape, character]) => text.replaceAll(escape, character), spaced);
}

/** Unused in JSON, which escapes it. Stands for a backslash until the other escapes are replaced. */
const backslash = '\x01';

/** What to replace in JSON, in this order, to remove its escapes. */
export const jsonEscapes: readonly (readonly [escape: string, character: string])[] = [
  ['\\\\', backslash],
  ['\\"', '"'],
  ['\\n', '\n'],
  ['\\t', '\t'],
  ['\\r', '\r'],
  ['\\f', '\f'],
  ['\\b', '\b'],
  [backslash, '\\'],
];
