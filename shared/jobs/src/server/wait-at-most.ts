/** Waits for the task for at most this time; the task itself continues. Rejects if the task does. */
export async function waitAtMost(timeoutMs: number, task: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([task, timeout]);
  clearTimeout(timer);
}
