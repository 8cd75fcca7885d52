export interface EventuallyOptions {
  /** When to give up, in milliseconds. The default, 20 000, is long enough that slow tests pass and only hanging ones fail. */
  readonly deadlineMs?: number;
  /** Pause between two checks, in milliseconds; 10 by default. */
  readonly everyMs?: number;
}

/**
 * Repeats until the condition returns something truthy or stops throwing, and returns its result. Tests wait with
 * this, never by sleeping.
 *
 * @throws the condition's last error if the deadline passes, or an Error if the condition did not throw
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = 20_000, everyMs = 10 }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
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
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
