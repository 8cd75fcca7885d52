/** Cuts a text to a maximum length, with an ellipsis. */
export function excerpt(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
