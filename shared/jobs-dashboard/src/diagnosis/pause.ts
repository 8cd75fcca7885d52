import type { PauseState } from '@longshore/jobs/storage';
import { type Sentence, sentence } from '../format/sentence.js';

/**
 * Continues “Queue mail was” or stands alone: “paused by ann 20 min ago: PSP outage, until 07:00”. `null` if it is not
 * paused.
 */
export function pauseText(pause: PauseState): Sentence | null {
  const { pausedAt, pausedBy, pauseReason, pausedUntil } = pause;
  if (pausedAt === null) return null;
  const by = pausedBy === null ? '' : ` by ${pausedBy}`;
  const reason = pauseReason === null ? '' : `: ${pauseReason}`;
  const until = pausedUntil === null ? '' : sentence`, until ${{ until: pausedUntil }}`;
  return sentence`paused${by} ${{ at: pausedAt }}${reason}${until}`;
}

/** Returns what ends a pause, as a sentence: “It is resumed automatically at that time.” */
export function pauseEnd({ pausedUntil }: PauseState, otherwise: string): string {
  return pausedUntil === null ? otherwise : 'It is resumed automatically at that time.';
}
