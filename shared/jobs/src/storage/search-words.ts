/** Maximum number of words to search for. */
const maxWords = 10;

/** Splits a search text into words at whitespace. Words beyond the tenth are ignored. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}
