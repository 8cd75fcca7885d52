/** What became of an action that did not come to its end: nothing, all of it, or nobody knows. */
export type Fate = 'undone' | 'done' | 'unknown';

/** Something went wrong in the middle of an action. */
export class InterruptedAction extends Error {
  override readonly name = 'InterruptedAction';

  readonly fate: Fate;

  constructor(fate: Fate, cause: unknown) {
    super('An action did not come to its end', { cause });
    this.fate = fate;
  }
}

/** @throws {InterruptedAction} with what goes wrong as its cause */
export async function within<T>(fate: Fate, step: Promise<T>): Promise<T> {
  try {
    return await step;
  } catch (error) {
    throw new InterruptedAction(fate, error);
  }
}
