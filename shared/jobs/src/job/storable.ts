/** A text as the storage can keep it: cut, and without NUL and halves of surrogate pairs, which Postgres does not keep. Never throws. */
export function storable(text: unknown, maxLength: number): string {
  return printed(text).slice(0, maxLength).replaceAll('\0', '\u2400').toWellFormed();
}

/** The text of a value. Never throws: some have no text, as an object without a prototype. */
export function printed(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be printed';
  }
}
