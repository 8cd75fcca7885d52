const alertPollMs = 1_000;

/** Chosen at random in this range, so that the roles of a server, and the servers of a fleet, do not all poll at once. */
const idlePollMs = { least: 8_000, most: 12_000 };

/**
 * Returns the interval between polls for background work, in milliseconds. Polling finds work whose notification was lost, or
 * whose server died before doing it. While notifications arrive, only a notification that was never sent can be missing.
 */
export function backgroundPollMs(isNotified: boolean): number {
  if (!isNotified) return alertPollMs;
  return idlePollMs.least + Math.random() * (idlePollMs.most - idlePollMs.least);
}
