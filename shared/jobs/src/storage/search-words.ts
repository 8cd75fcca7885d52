/** Maximum number of words to search for. */
const maxWords = 10;

/** Splits a search text at whitespace. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}
