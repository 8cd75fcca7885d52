import { existsSync, readFileSync } from 'node:fs';

/**
 * On Linux, the file with the main thread's scheduler statistics. The first number is the thread's CPU time in
 * nanoseconds.
 */
const schedulerStatistics = `/proc/self/task/${process.pid}/schedstat`;
const isLinux = existsSync(schedulerStatistics);

/**
 * Pause between two samples, in milliseconds. Without a pause, sampling would use the whole CPU while the work waits.
 */
const everyMs = 1;

/** Number of measurements. Garbage left by earlier tests can distort one of them, but is unlikely to distort all. */
const measurements = 3;

/**
 * Measures the longest turn of the event loop during some work, in milliseconds of CPU time. Other requests have to
 * wait during such a turn. Does the work three times and returns the shortest result. Excludes other load on the
 * machine and, on Linux, other threads of this process. Because samples are a millisecond apart, the result may include
 * short turns directly before or after the longest one.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let best = Infinity;
  for (let count = 0; count < measurements; count++) best = Math.min(best, await longestTurnOnce(work));
  return best;
}

async function longestTurnOnce(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let ended = false;
  let before = processorMs();
  const turn = (): void => {
    const now = processorMs();
    longest = Math.max(longest, now - before);
    before = now;
    if (!ended) setTimeout(turn, everyMs);
  };
  setTimeout(turn, everyMs);
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
