import { formatDuration, timeText } from './time.js';

/** The time elapsed since `since`, shown as “3 min 12 s”. */
interface Elapsed {
  readonly since: Date;
}

/** A point in time, shown as “in 3 min” or “3 min ago”. */
export interface Moment {
  readonly at: Date;
}

/** The time when something begins or ends, shown as “07:00”. If it is at least 20 hours away, the day is shown, too. */
interface End {
  readonly until: Date;
}

/** A time of the last minutes, shown as “07:00”. */
interface ClockTime {
  readonly clock: Date;
}

/**
 * Text that contains times. The times are formatted only for display, so the sentence itself does not change as time
 * passes. A refresh of a page that shows the sentence can therefore be answered with 304.
 */
export type Sentence = readonly (string | Elapsed | Moment | End | ClockTime)[];

/** Builds a sentence from a template literal: sentence`Paused for ${{ since }}.` */
export function sentence(
  texts: TemplateStringsArray,
  ...values: readonly (string | number | Elapsed | Moment | End | ClockTime | Sentence)[]
): Sentence {
  return texts.flatMap((text, index) => {
    const value = values[index] ?? '';
    if (typeof value === 'number') return [text, String(value)];
    return isSentence(value) ? [text, ...value] : [text, value];
  });
}

function isSentence(value: string | Elapsed | Moment | End | ClockTime | Sentence): value is Sentence {
  return Array.isArray(value);
}

export function capitalized(text: Sentence | null): Sentence | null {
  const [first, ...parts] = text ?? [];
  return typeof first === 'string' ? [first.charAt(0).toUpperCase() + first.slice(1), ...parts] : text;
}

/** Formats a sentence as plain text. Elapsed and relative times are as of `nowMs`. End times are in UTC. */
export function plainText(sentence: Sentence, nowMs: number): string {
  return sentence
    .map((part) => {
      if (typeof part === 'string') return part;
      if ('since' in part) return formatDuration(nowMs - part.since.getTime());
      if ('until' in part) return `${part.until.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
      if ('clock' in part) return part.clock.toISOString().slice(11, 16);
      return timeText(part.at, nowMs).relative;
    })
    .join('');
}
