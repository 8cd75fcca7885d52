export interface EventuallyOptions {
  /**
   * When to give up, in milliseconds; 90,000 by default. Even on a busy machine, only a hanging test takes that long.
   */
  readonly deadlineMs?: number;
  /**
   * Longest pause between two checks, in milliseconds; 20 by default. The first pause is at most 1 ms, and each pause
   * is twice as long as the one before. Frequent checks would slow down the work that the test waits for.
   */
  readonly everyMs?: number;
}

/**
 * Calls the condition until it returns a truthy value without throwing, and returns that value. Tests wait with this
 * function instead of sleeping.
 *
 * @throws after the deadline: the error of the last call, or an Error if that call returned a falsy value
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = 90_000, everyMs = 20 }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + deadlineMs;
  for (let pauseMs = Math.min(1, everyMs); ; pauseMs = Math.min(2 * pauseMs, everyMs)) {
    let failure: unknown = new Error(
      `The condition did not hold within ${deadlineMs} ms: ${String(condition)}`,
    );
    try {
      const value = await condition();
      if (value) return value as Exclude<Awaited<T>, false | null | undefined | 0 | ''>;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline) throw failure;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
}
