/** At most so many characters of a text; what is left out is marked by an ellipsis. */
export function excerpt(text: string, maxCharacters: number): string {
  return text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text;
}
