export interface EventuallyOptions {
  /**
   * When to give up, in milliseconds. The default, 90 000, is so long that only hanging tests reach it, even on a busy
   * machine that is 25 times slower than usual.
   */
  readonly deadlineMs?: number;
  /**
   * Longest pause between two checks, in milliseconds; 20 by default. The first pause is 1 ms, and each is twice as
   * long as the one before. Most conditions hold soon, and frequent checks of the others would slow down the work that
   * the test waits for.
   */
  readonly everyMs?: number;
}

/**
 * Calls the condition repeatedly until it returns a truthy value without throwing, and returns that value. Tests wait
 * with this function, never by sleeping.
 *
 * @throws the error of the last call if the deadline has passed, or an Error if that call did not throw
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
