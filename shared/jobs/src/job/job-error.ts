/** The stored error of an attempt or a job. */
export interface JobError {
  /** The error's `name`, such as `TypeError`. */
  name: string;
  message: string;
  stack: string | null;
}
