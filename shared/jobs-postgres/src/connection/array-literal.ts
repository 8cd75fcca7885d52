/**
 * Formats UUIDs, numbers or states as a Postgres array literal, without quotes. The driver's own quoting took a sixth
 * of the process's time in bulk enqueueing. Never pass names or ids from callers, because Postgres reads an unquoted
 * `null` as NULL.
 */
export function arrayOf(elements: readonly string[] | readonly number[]): string {
  return `{${elements.join(',')}}`;
}
