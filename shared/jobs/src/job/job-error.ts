/** The stored reason why an attempt did not succeed. */
export interface JobError {
  /** The error's class name, such as `TypeError`. */
  name: string;
  message: string;
  stack: string | null;
}
