/** Whether an interrupted action took effect: `undone` if nothing was changed, otherwise `unknown`. */
export type Completion = 'undone' | 'unknown';

/** Thrown if an action fails for a reason other than its input, such as a database outage. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action was interrupted', { cause });
    this.completion = completion;
  }
}
