import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * Clears the way after a crash: removes a `postmaster.pid` whose process is gone, or whose number now belongs to another
 * program (frequent in containers), which Postgres itself would refuse to start over.
 *
 * Throws if a Postgres really runs on this data directory.
 */
export async function clearStaleLock(data: string): Promise<void> {
  const file = path.join(data, 'postmaster.pid');
  const content = await readFile(file, 'utf8').catch(() => null);
  if (content === null) return;
  const pid = Number.parseInt(content, 10);
  const command = await commandLine(pid);
  if (command.includes(data)) throw new Error(`A Postgres already runs on ${data} (process ${pid}).`);
  await rm(file, { force: true });
}

/** The command line of a process; empty if there is no such process. */
async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return ps.then(({ stdout }) => stdout).catch(() => '');
}
