/** Waits for the task, but no longer than this; the task goes on. Rejects as it does. */
export async function within(timeoutMs: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([task, timeout]);
  clearTimeout(timer);
}
