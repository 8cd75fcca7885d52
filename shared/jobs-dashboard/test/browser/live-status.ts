/** Returns the age that the status line of a live page shows, in seconds; 0 if it shows none. */
export function shownAge(status: string | null): number {
  const [, count = '0', unit = 's'] = /(?:updated|as of) (\d+) (s|min|h) .*ago/i.exec(status ?? '') ?? [];
  return Number(count) * (unit === 's' ? 1 : unit === 'min' ? 60 : 3_600);
}
