/**
 * The longest turn of the event loop while the work goes on, in milliseconds of this process's processor time: what keeps
 * other requests waiting. Other load on the machine does not count.
 */
export async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let ended = false;
  let before = process.cpuUsage();
  const turn = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    longest = Math.max(longest, (user + system) / 1_000);
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
