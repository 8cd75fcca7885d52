import { existsSync, readFileSync } from 'node:fs';

/** Scheduler statistics of the main thread, on Linux; the first number is its CPU time in nanoseconds. */
const schedulerStatistics = `/proc/self/task/${process.pid}/schedstat`;
const isLinux = existsSync(schedulerStatistics);

/**
 * Measures the longest turn of the event loop during some work, in milliseconds of CPU time: how long other requests
 * have to wait. Excludes other load on the machine and, on Linux, other threads of this process.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let ended = false;
  let before = processorMs();
  const turn = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!ended) setImmediate(turn);
  };
  setImmediate(turn);
  try {
    await work();
  } finally {
    ended = true;
  }
  return longest;
}

function processorMs(): number {
  if (isLinux) return Number.parseInt(readFileSync(schedulerStatistics, 'utf8'), 10) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
