/** An answer that took longer, in milliseconds, tells too little about the moment at which the storage read its clock. */
const MOST_UNSURE_MS = 1_000;

/** The most that the store holds, in milliseconds: 24.8 days. */
const MOST_MS = 2 ** 31 - 1;

/**
 * How far this machine's clock is ahead of the storage's, in milliseconds; negative if it is behind. The storage is taken to
 * have read its clock halfway between question and answer, as in NTP (RFC 5905 § 8). `null` if that would be too rough. A clock that is off by more than 24.8 days counts as off by that.
 */
export function clockDifference(askedAtMs: number, storageMs: number, answeredAtMs: number): number | null {
  const tookMs = answeredAtMs - askedAtMs;
  if (tookMs < 0 || tookMs > MOST_UNSURE_MS) return null;
  return Math.max(-MOST_MS, Math.min(MOST_MS, Math.round(askedAtMs + tookMs / 2 - storageMs)));
}
