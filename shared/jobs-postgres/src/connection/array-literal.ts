/**
 * Formats UUIDs, numbers or states as a Postgres array literal. They never need quoting, but the driver would inspect
 * every character to find that out, which took a sixth of the process's time when enqueueing in bulk. Never pass names
 * or ids that callers choose: Postgres reads an unquoted `null` as NULL.
 */
export function arrayOf(elements: readonly string[] | readonly number[]): string {
  return `{${elements.join(',')}}`;
}
