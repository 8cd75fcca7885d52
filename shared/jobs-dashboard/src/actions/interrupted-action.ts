/** What became of an action that did not come to its end: nothing, all of it, or nobody knows. */
export type Completion = 'undone' | 'done' | 'unknown';

/** Something went wrong in the middle of an action. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly completion: Completion;

  constructor(completion: Completion, cause: unknown) {
    super('An action did not come to its end', { cause });
    this.completion = completion;
  }
}

/** @throws {InterruptedAction} with what goes wrong as its cause */
export async function interruptedAs<T>(completion: Completion, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw new InterruptedAction(completion, error);
  }
}
