import type { PauseState } from '@longshore/jobs/storage';
import { type Sentence, sentence } from '../format/sentence.js';

/**
 * Returns text such as “paused by ann 20 min ago: PSP outage, until 07:00”, to complete a sentence that begins with
 * “Queue mail was”. Returns `null` if there is no pause.
 */
export function pauseText(pause: PauseState): Sentence | null {
  const { pausedAt, pausedBy, pauseReason, pausedUntil } = pause;
  if (pausedAt === null) return null;
  const by = pausedBy === null ? '' : ` by ${pausedBy}`;
  const reason = pauseReason === null ? '' : `: ${pauseReason}`;
  const until = pausedUntil === null ? '' : sentence`, until ${{ until: pausedUntil }}`;
  return sentence`paused${by} ${{ at: pausedAt }}${reason}${until}`;
}

/** Returns the sentence “It is resumed automatically at that time.” or, for a pause without an end, `otherwise`. */
export function pauseEnd({ pausedUntil }: PauseState, otherwise: string): string {
  return pausedUntil === null ? otherwise : 'It is resumed automatically at that time.';
}
