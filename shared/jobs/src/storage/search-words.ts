const maxWords = 10;

/** Splits a search text into words at whitespace. Ignores all words after the tenth. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}
