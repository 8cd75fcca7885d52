import type { Sentence } from '../format/sentence.js';
import { formatDuration } from '../format/time.js';

/** A problem that is shown on the overview, together with advice on what to do about it. */
export interface Warning {
  /** Identifies what is wrong, for example `queue mail is paused`. Stays the same when numbers in the text change. */
  readonly cause: string;
  readonly text: Sentence;
  /** What an operator can do about it, in one or more sentences. */
  readonly advice: string;
  /** The path, inside the dashboard, of a page with more details. */
  readonly link: string;
  /**
   * Identifies what is affected, such as `server {id}`. Warnings with different causes can have the same subject.
   * Needed only if `link` does not identify what is affected.
   */
  readonly subject?: string;
  /**
   * Whether the condition is measured, like a waiting time, rather than stored, like a pause. Measurements fluctuate,
   * so the warning ends only when the condition has been absent for two minutes. Defaults to `false`.
   */
  readonly isMeasured?: boolean;
}

/** How long a measured condition must be absent before its warning ends, in milliseconds. */
const ENDS_AFTER_MS = 2 * 60_000;

export interface CurrentWarning extends Warning {
  /** When the condition was last present; `null` if it still is. */
  readonly easedAt: Date | null;
}

interface Seen {
  readonly warning: Warning;
  readonly atMs: number;
}

/**
 * Keeps warnings from flapping: a warning about a measured condition ends only when the condition has been absent for
 * two minutes. Warnings about stored facts, such as a pause, end at once.
 */
export class WarningWatch {
  /** Warnings about measured conditions, by cause, until they end. */
  readonly #seen = new Map<string, Seen>();

  /**
   * Returns the current warnings: first the ones found now, then the ones that have eased. An eased warning is omitted
   * if a warning found now has the same subject or link.
   *
   * @param found the warnings found now, at most one per cause
   */
  judge(found: readonly Warning[], nowMs: number): CurrentWarning[] {
    for (const warning of found) {
      if (warning.isMeasured === true) this.#seen.set(warning.cause, { warning, atMs: nowMs });
    }
    for (const [cause, { atMs }] of this.#seen) {
      if (nowMs - atMs >= ENDS_AFTER_MS) this.#seen.delete(cause);
    }
    const causes = new Set(found.map(({ cause }) => cause));
    const subjects = new Set(found.flatMap(subjectsOf));
    const eased = [...this.#seen].filter(
      ([cause, { warning }]) =>
        !causes.has(cause) && !subjectsOf(warning).some((subject) => subjects.has(subject)),
    );
    return [
      ...found.map((warning) => ({ ...warning, easedAt: null })),
      ...eased.map(([, { warning, atMs }]) => ({
        ...warning,
        text: stoppedAt(warning.text, atMs),
        easedAt: new Date(atMs),
      })),
    ];
  }
}

/** Returns the sentence with its elapsed times frozen at `atMs`. */
function stoppedAt(text: Sentence, atMs: number): Sentence {
  return text.map((part) =>
    typeof part !== 'string' && 'since' in part ? formatDuration(atMs - part.since.getTime()) : part,
  );
}

function subjectsOf({ subject, link }: Warning): string[] {
  return subject === undefined ? [link] : [subject, link];
}
