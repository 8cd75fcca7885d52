import { readdir, readFile } from 'node:fs/promises';

/** Linux reports CPU time in ticks of a hundredth of a second (proc(5): `sysconf(_SC_CLK_TCK)`). */
const tickMs = 10;

/**
 * Returns the CPU time that a process and its child processes have used so far, in milliseconds. Includes child
 * processes that have ended. Returns `null` if the times cannot be read from /proc.
 */
export async function processorTime(pid: number): Promise<number | null> {
  for (;;) {
    const parent = await readStat(pid);
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
    const stats = await Promise.all(pids.map(readStat));
    const after = await readStat(pid);
    if (parent === null || after === null) return null;
    // A child that ended while the others were read may be in neither sum, so all are read again.
    if (parent.endedChildren !== after.endedChildren) continue;
    const children = stats.filter((stat) => stat?.parent === pid);
    const ticks = children.reduce((sum, child) => sum + (child?.own ?? 0), parent.own + parent.endedChildren);
    return ticks * tickMs;
  }
}

interface Stat {
  readonly parent: number;
  /** CPU time of the process without its children, in ticks. */
  readonly own: number;
  readonly endedChildren: number;
}

async function readStat(pid: number): Promise<Stat | null> {
  try {
    const text = await readFile(`/proc/${pid}/stat`, 'latin1');
    // The second field is a name in parentheses and may itself contain spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const field = (number: number): number => Number(fields[number - 3]);
    return { parent: field(4), own: field(14) + field(15), endedChildren: field(16) + field(17) };
  } catch {
    return null;
  }
}
