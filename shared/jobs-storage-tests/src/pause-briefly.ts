import { type Fixture, hourMs } from './storage-under-test.js';

/**
 * Starts a pause that ends soon. If the end has passed before the storage has stored the pause, it refuses the pause;
 * then tries again with a later end. Returns the end of the pause.
 *
 * @param round returns the end to use instead of the given one; must not be earlier
 */
export async function pauseBriefly(
  { storage }: Fixture,
  pause: (until: Date) => Promise<unknown>,
  round: (end: Date) => Date = (end) => end,
): Promise<Date> {
  for (let ms = 80; ; ms *= 2) {
    const end = round(new Date((await storage.readClock()).getTime() + ms));
    try {
      await pause(end);
      return end;
    } catch (error) {
      if (!(error instanceof RangeError) || ms > hourMs) throw error;
    }
  }
}
