/** More words than these find nothing that fewer would not. */
const maxWords = 10;

/** Splits a search text at white space. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}
