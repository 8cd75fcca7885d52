/** Truncates text that is longer than `maxCharacters`, and marks the cut with an ellipsis. */
export function excerpt(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
