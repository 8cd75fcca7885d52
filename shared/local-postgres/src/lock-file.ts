import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** How long a Postgres whose starter was killed may take to shut down. */
const shutdownMs = 3_000;

/**
 * Clears the way after a crash: waits for a Postgres that is shutting down, then removes a `postmaster.pid` whose process
 * is gone, or whose number now belongs to another program (frequent in containers), which Postgres itself would refuse to
 * start over.
 *
 * Throws if a Postgres goes on running on this data directory.
 */
export async function clearStaleLock(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const deadline = Date.now() + shutdownMs;
  for (;;) {
    const content = await readFile(file, 'utf8').catch(() => null);
    if (content === null) return;
    const pid = Number.parseInt(content, 10);
    const command = await commandLine(pid);
    if (!command.includes(data)) break;
    if (Date.now() > deadline) throw new Error(`A Postgres already runs on ${data} (process ${pid}).`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await rm(file, { force: true });
}

/** The command line of a process; empty if there is no such process. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return ps.then(({ stdout }) => stdout).catch(() => '');
}
