import type { Sentence } from '../format/sentence.js';

/** A warning of the overview. */
export interface Warning {
  /** Identifies what is wrong, and stays the same while figures change: `queue mail is paused`. */
  readonly cause: string;
  readonly text: Sentence;
  /** What to do about it. */
  readonly advice: string;
  /** A path inside the dashboard that shows more. */
  readonly link: string;
  /** Identifies the thing with which something is wrong, whatever that is, if the link does not. */
  readonly subject?: string;
  /** Whether the condition is measured and may come and go, so that it must be absent for a while before the warning ends. */
  readonly isMeasured?: boolean;
}
