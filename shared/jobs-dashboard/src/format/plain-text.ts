import { formatDuration } from './duration.js';
import type { Sentence } from './sentence.js';
import { timeText } from './time.js';

/** Formats a sentence as plain text. Elapsed and relative times are as of `nowMs`. End times are in UTC. */
export function plainText(sentence: Sentence, nowMs: number): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('since' in part) return formatDuration(nowMs - part.since.getTime());
      if ('until' in part) return `${part.until.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
      return timeText(part.at, nowMs).relative;
    })
    .join('');
}
