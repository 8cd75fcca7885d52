export interface EventuallyOptions {
  /** When to give up, in milliseconds. Default 20 000: against what hangs, not what is slow. */
  readonly deadlineMs?: number;
  /** Pause between two looks, in milliseconds. Default 10. */
  readonly everyMs?: number;
}

/**
 * Looks again and again until the condition gives something truthy or stops throwing an assertion, and returns what it
 * gave. Tests wait with this, never by sleeping.
 *
 * Throws at the deadline: what the condition threw last, or that it never held.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { deadlineMs = 20_000, everyMs = 10 }: EventuallyOptions = {},
): Promise<Exclude<Awaited<T>, false | null | undefined | 0 | ''>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    let failure: unknown = new Error(`Still not so after ${deadlineMs} ms: ${String(condition)}`);
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
