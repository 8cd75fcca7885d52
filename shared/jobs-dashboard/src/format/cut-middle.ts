/** A name split into three parts. The middle of a long name is hidden. */
export interface CutText {
  readonly start: string;
  /** The hidden part; empty if the whole name is shown. */
  readonly middle: string;
  readonly end: string;
}

/** Names of up to this many characters are shown in full. */
const MAX_CHARACTERS = 36;
const START = 22;
const END = 12;

/** Splits a name for display. Concatenated, the three parts are the original name. */
export function cutMiddle(text: string): CutText {
  const characters = Array.from(text);
  if (characters.length <= MAX_CHARACTERS) return { start: text, middle: '', end: '' };
  return {
    start: characters.slice(0, START).join(''),
    middle: characters.slice(START, -END).join(''),
    end: characters.slice(-END).join(''),
  };
}
