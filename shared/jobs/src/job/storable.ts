/**
 * Converts a value to text that Postgres can store: truncated to `maxLength`, with NUL and unpaired surrogates
 * replaced. Never throws.
 */
export function storable(text: unknown, maxLength: number): string {
  return printed(text).slice(0, maxLength).replaceAll('\0', '\u2400').toWellFormed();
}

/**
 * Converts a value to text. Never throws, although some values cannot be converted, such as an object without a
 * prototype.
 */
export function printed(value: unknown): string {
  try {
    return String(value);
  } catch {
    return 'a value that cannot be printed';
  }
}
