/**
 * Waits for the task, but at most `timeoutMs`. The task itself continues after this time. Rejects if the task rejects
 * in time.
 */
export async function waitAtMost(timeoutMs: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  try {
    await Promise.race([task, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
