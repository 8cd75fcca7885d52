/** More words than these find nothing that fewer would not. */
const maxWords = 10;

/** The words of a search: what stands between spaces. */
export function wordsOf(text: string | undefined): string[] {
  return (text ?? '')
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, maxWords);
}
