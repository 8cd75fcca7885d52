/** Polling interval in milliseconds if notifications do not arrive reliably. */
const shortPollMs = 1_000;

/**
 * Range of the polling interval while notifications arrive, in milliseconds. The interval is random so that tasks and
 * servers do not all poll at once.
 */
const idlePollMs = { min: 8_000, max: 12_000 };

/**
 * Returns the time until the next poll for background work, in milliseconds. A poll also finds work without a
 * notification, such as work that a dead server has not finished. Such work is rare, so the interval is long while
 * notifications arrive.
 *
 * @param nextDueMs milliseconds until the next known work; `null` if none is known
 */
export function backgroundPollMs(isNotified: boolean, nextDueMs: number | null = null): number {
  const idleMs = idlePollMs.min + Math.random() * (idlePollMs.max - idlePollMs.min);
  return Math.min(isNotified ? idleMs : shortPollMs, Math.ceil(nextDueMs ?? Infinity));
}
