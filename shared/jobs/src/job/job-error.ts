/** Why an attempt did not succeed, as it is stored. */
export interface JobError {
  /** The error's class name, `TypeError` for example. */
  name: string;
  message: string;
  stack: string | null;
}
