import type { Sentence } from '../format/sentence.js';

/** A warning of the overview. */
export interface Warning {
  readonly text: Sentence;
  /** What to do about it. */
  readonly advice: string;
  /** A path inside the dashboard that shows more. */
  readonly link: string;
}
