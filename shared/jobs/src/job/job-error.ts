/** Why an attempt failed, or why a job was cancelled, in the form in which it is stored. */
export interface JobError {
  /** The error's `name`, such as `TypeError`. */
  name: string;
  message: string;
  stack: string | null;
}
