import type { Sentence } from '../format/sentence.js';

/** A warning, as shown on the overview. */
export interface Warning {
  /** Identifies what is wrong, and stays the same while figures change: `queue mail is paused`. */
  readonly cause: string;
  readonly text: Sentence;
  /** What to do about it. */
  readonly advice: string;
  /** A path inside the dashboard that shows more. */
  readonly link: string;
  /** Identifies the affected thing, whatever is wrong with it. Needed only if `link` does not identify it. */
  readonly subject?: string;
  /**
   * Whether the condition is measured and can come and go. Such a warning ends only when it has been absent for a
   * while.
   */
  readonly isMeasured?: boolean;
}
