import type { Sentence } from '../format/sentence.js';

/** Something that will not mend itself, or may not. */
export interface Warning {
  readonly text: Sentence;
  /** What to do, or where to look. */
  readonly advice: string;
  /** A path inside the dashboard that shows more. */
  readonly link: string;
}
