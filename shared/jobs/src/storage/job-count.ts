/** A number of jobs, counted up to a bound. */
export interface JobCount {
  readonly count: number;
  /** `false`: there are more than were counted. */
  readonly exact: boolean;
}
