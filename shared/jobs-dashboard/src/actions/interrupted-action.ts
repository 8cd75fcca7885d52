/** Whether an interrupted action was carried out. */
export type Completion = 'undone' | 'unknown';

/** An action failed for a reason other than its input. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action was interrupted', { cause });
    this.completion = completion;
  }
}
