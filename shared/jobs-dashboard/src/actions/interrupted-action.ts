/** Whether an interrupted action was carried out. */
export type Completion = 'undone' | 'done' | 'unknown';

/** An action failed for a reason other than its input. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action did not come to its end', { cause });
    this.completion = completion;
  }
}

/** @throws {InterruptedAction} if the step fails, with the error as its cause */
export async function interruptedAs<T>(completion: Completion, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw new InterruptedAction(completion, error);
  }
}
