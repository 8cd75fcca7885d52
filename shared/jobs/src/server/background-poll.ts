/** Polling interval in milliseconds while notifications do not arrive reliably. */
const shortPollMs = 1_000;

/**
 * Bounds of the polling interval while notifications arrive, in milliseconds. The interval is drawn at random, so that
 * the background tasks of a server, and the servers of a fleet, do not all poll at once.
 */
const idlePollMs = { min: 8_000, max: 12_000 };

/**
 * Returns the time until the next poll for background work, in milliseconds. Polls find work if no notification of it
 * has arrived, such as work that a server left undone when it died. While notifications arrive, there is rarely such
 * work, so polls are rare too.
 *
 * @param nextDueMs milliseconds until the next known work; `null` if none is known
 */
export function backgroundPollMs(isNotified: boolean, nextDueMs: number | null = null): number {
  const idleMs = idlePollMs.min + Math.random() * (idlePollMs.max - idlePollMs.min);
  return Math.min(isNotified ? idleMs : shortPollMs, Math.ceil(nextDueMs ?? Infinity));
}
