import type { Sentence } from '../format/sentence.js';

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
