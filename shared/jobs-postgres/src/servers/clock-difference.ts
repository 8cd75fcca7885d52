/** Maximum round-trip time, in milliseconds, at which a reading of the database's clock is usable. */
const MAX_UNSURE_MS = 1_000;

/** Maximum difference that the database column can hold (a 32-bit integer), in milliseconds: 24.8 days. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Returns how far this machine's clock is ahead of the database's, in milliseconds; negative if it is behind. Assumes
 * that the database read its clock halfway between request and response, as NTP does (RFC 5905 § 8). Returns `null` if
 * the response took more than a second or this machine's clock was set back. Clamps differences beyond 24.8 days.
 */
export function clockDifference(sentAtMs: number, storageMs: number, answeredAtMs: number): number | null {
  const tookMs = answeredAtMs - sentAtMs;
  if (tookMs < 0 || tookMs > MAX_UNSURE_MS) return null;
  return Math.max(-MAX_MS, Math.min(MAX_MS, Math.round(sentAtMs + tookMs / 2 - storageMs)));
}
