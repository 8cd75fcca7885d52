/** A text as the storage can keep it: cut, and without NUL and halves of surrogate pairs, which Postgres does not keep. */
export function storable(text: unknown, maxLength: number): string {
  return String(text).slice(0, maxLength).replaceAll('\0', '\u2400').toWellFormed();
}
