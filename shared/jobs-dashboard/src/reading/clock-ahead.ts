import type { PageContext } from '../pages/page.js';

/**
 * How far this process's clock is ahead of the storage's, in milliseconds; negative if it is behind. Off by half of the time that
 * the answer takes at most. Heartbeats and leases are told by the storage's clock: what compares them with the time asks for it.
 */
export async function readClockAhead({ reader, now }: Pick<PageContext, 'reader' | 'now'>): Promise<number> {
  const askedAtMs = now();
  const storageMs = (await reader.readClock()).getTime();
  return Math.round((askedAtMs + now()) / 2) - storageMs;
}
