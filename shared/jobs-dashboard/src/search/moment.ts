const unitsMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
};

/** Times that are told from now stay the same for so long, so that viewers share what they ask for. */
const STEP_MS = 10_000;

const calendar = /^\d{4}-\d\d-\d\d(?<time>[T ]\d\d:\d\d(:\d\d(\.\d{1,3})?)?)?(?<zone>Z|[+-]\d\d:\d\d)?$/i;

/**
 * The time that somebody wrote: `2026-03-01`, `2026-03-01T14:05`, in UTC unless it says otherwise, or `90s`, `15min`, `2h`, `7d`
 * before now. `null` if it is none.
 */
export function momentOf(text: string, nowMs: number): Date | null {
  const [, amount, unit = ''] = /^(\d{1,6})\s*([a-z]+)$/i.exec(text) ?? [];
  const unitMs = unitsMs[unit.toLowerCase()];
  if (amount !== undefined && unitMs !== undefined) {
    return new Date(Math.floor(nowMs / STEP_MS) * STEP_MS - Number(amount) * unitMs);
  }
  const groups = calendar.exec(text)?.groups;
  if (groups === undefined) return null;
  const inZone = groups['time'] !== undefined && groups['zone'] === undefined ? `${text}Z` : text;
  const moment = new Date(inZone.replace(' ', 'T').toUpperCase());
  return Number.isNaN(moment.getTime()) ? null : moment;
}
