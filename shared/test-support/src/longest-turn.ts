import { existsSync, readFileSync } from 'node:fs';

/** The main thread's scheduler statistics on Linux. The first number is the thread's CPU time in nanoseconds. */
const schedulerStatistics = `/proc/self/task/${process.pid}/schedstat`;
const isLinux = existsSync(schedulerStatistics);

/** A sleep of this many milliseconds makes the kernel bring the statistics up to date, which it does every 4 ms otherwise. */
const sleepMs = 0.001;
const neverNotified = new Int32Array(new SharedArrayBuffer(4));

/** Pause between two samples, in milliseconds. Without a pause, sampling would use all the CPU while the work waits. */
const everyMs = 1;

/** Maximum number of measurements. Garbage from earlier tests can distort one, but is unlikely to distort all. */
const measurements = 5;

/**
 * Measures the longest turn of the event loop during `work`, as a multiple of the time in which this process copies ten
 * thousand small objects. The multiple depends little on the speed and load of the machine. Other requests wait during
 * such a turn. Calls `work` until a result is below `bound`, at most five times, and returns the lowest result.
 * Excludes other processes and, on Linux, other threads of this process. The result may include short turns within a
 * millisecond of the longest one.
 */
export async function longestTurn(work: () => Promise<unknown>, bound: number): Promise<number> {
  let best = Infinity;
  for (let count = 0; count < measurements && best >= bound; count++) {
    const unit = copyingMs();
    const longest = await longestTurnOnce(work);
    best = Math.min(best, longest / Math.max(unit, copyingMs()));
  }
  return best;
}

/**
 * Returns the CPU time for copying ten thousand small objects, in milliseconds: the median of five runs. Uses
 * `structuredClone`, because it is equally fast in all supported versions of Node.js. Spreading the objects takes 16 times
 * as long with Node.js 20 as with 24.
 */
function copyingMs(): number {
  const runs = Array.from({ length: 5 }, () => {
    const before = processorMs();
    const objects = Array.from({ length: 10_000 }, (_, n) => ({ name: `object ${n}`, args: { a: n, b: 2 } }));
    structuredClone(objects);
    return processorMs() - before;
  });
  return runs.toSorted((a, b) => a - b)[2] ?? 0;
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
  if (isLinux) {
    Atomics.wait(neverNotified, 0, 0, sleepMs);
    return Number.parseInt(readFileSync(schedulerStatistics, 'utf8'), 10) / 1e6;
  }
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
