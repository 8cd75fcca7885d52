const alertPollMs = 1_000;

/**
 * Drawn at random from this range, so that the background tasks of a server, and the servers of a fleet, do not all
 * poll at once.
 */
const idlePollMs = { min: 8_000, max: 12_000 };

/**
 * Returns the time until the next poll for background work, in milliseconds. A poll finds work whose notification was
 * lost, and work that a server left undone when it died. While notifications arrive, polls are rare, because only a
 * notification that was never sent can be missing.
 *
 * @param nextDueMs milliseconds until the next known work; `null` if none is known
 */
export function backgroundPollMs(isNotified: boolean, nextDueMs: number | null = null): number {
  const idleMs = idlePollMs.min + Math.random() * (idlePollMs.max - idlePollMs.min);
  return Math.min(isNotified ? idleMs : alertPollMs, Math.ceil(nextDueMs ?? Infinity));
}
