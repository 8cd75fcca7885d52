/**
 * Checks every 50 ms until the condition returns something truthy without throwing, and returns its result. After the
 * deadline, throws the condition's last error.
 */
export async function eventually<T>(condition: () => Promise<T>, deadlineMs = 30_000): Promise<T> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    let failure: unknown = new Error(
      `The condition did not hold within ${deadlineMs} ms: ${String(condition)}`,
    );
    try {
      const value = await condition();
      if (value) return value;
    } catch (error) {
      failure = error;
    }
    if (performance.now() >= deadline) throw failure;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
