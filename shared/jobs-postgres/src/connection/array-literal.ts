/**
 * Formats UUIDs, numbers, booleans (`t` and `f`) or words of our own, such as job states, as a Postgres array literal without quotes. Never pass other strings: nothing
 * is escaped, and Postgres reads an unquoted `null` as NULL. The driver's own quoting took a sixth of the process's
 * time in bulk enqueueing.
 */
export function arrayOf(elements: readonly string[] | readonly number[]): string {
  return `{${elements.join(',')}}`;
}
