/**
 * A Postgres array of UUIDs or numbers, as text. Nothing in it needs quoting; the driver would look at each element's every
 * character to find that out, which took a sixth of the process's time in a bulk of jobs.
 */
export function arrayOf(elements: readonly string[] | readonly number[]): string {
  return `{${elements.join(',')}}`;
}
