/**
 * Resolves when the task does, or after `timeoutMs` if it takes longer; the task itself continues. Rejects if the task
 * rejects in time.
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
