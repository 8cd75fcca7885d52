/** Whether an interrupted action was carried out: `undone` means that nothing was changed. */
export type Completion = 'undone' | 'unknown';

/** Thrown if an action fails for a reason other than its input, such as an outage of the storage. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action was interrupted', { cause });
    this.completion = completion;
  }
}
