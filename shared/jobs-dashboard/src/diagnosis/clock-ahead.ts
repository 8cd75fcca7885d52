import type { PageContext } from '../pages/page.js';

/**
 * Returns how far this process's clock is ahead of the storage's, in milliseconds; negative if it is behind. The error
 * is at most half of the time that the read takes. Used only for warnings, because pages show the storage's time.
 */
export async function readClockAhead({
  reader,
  machineNow,
}: Pick<PageContext, 'reader' | 'machineNow'>): Promise<number> {
  const sentAtMs = machineNow();
  const storageMs = (await reader.readClock()).getTime();
  return Math.round((sentAtMs + machineNow()) / 2) - storageMs;
}
