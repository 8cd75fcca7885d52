/**
 * Counts how often some work lets other work run: how often the code of this process calls `setImmediate` while the work
 * takes place. Between two of these turns of the event loop, other requests are answered. A slow machine does not make
 * the count smaller, because sliced work yields after a time. The HTTP server of Node.js itself does not count.
 */
export async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  const { setImmediate: original } = globalThis;
  let turns = 0;
  const counting = (...args: Parameters<typeof original>): NodeJS.Immediate => {
    turns += 1;
    return original(...args);
  };
  globalThis.setImmediate = Object.assign(counting, original);
  try {
    await work();
  } finally {
    globalThis.setImmediate = original;
  }
  return turns;
}
