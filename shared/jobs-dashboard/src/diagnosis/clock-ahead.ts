import type { PageContext } from '../pages/page.js';

/**
 * How far this process's clock is ahead of the storage's, in milliseconds; negative if it is behind. Off by half of the time that
 * the answer takes at most. For a warning: what is shown goes by the storage's clock.
 */
export async function readClockAhead({
  reader,
  machineNow,
}: Pick<PageContext, 'reader' | 'machineNow'>): Promise<number> {
  const askedAtMs = machineNow();
  const storageMs = (await reader.readClock()).getTime();
  return Math.round((askedAtMs + machineNow()) / 2) - storageMs;
}
