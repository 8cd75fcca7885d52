import { execFile } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/** How long to wait for Postgres to shut down after its parent process was killed, in milliseconds. */
const shutdownMs = 3_000;

/**
 * Cleans up after a crash: waits for a Postgres that is still shutting down, and removes a stale `postmaster.pid`.
 * Postgres would refuse to start with this file. The file is stale if its process has ended, or if another program now
 * has the process id, as is common in containers.
 *
 * @throws if a Postgres keeps running on this data directory
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
    if (Date.now() > deadline) throw new Error(`Postgres is already running on ${data} (process ${pid}).`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await rm(file, { force: true });
}

/** Returns the TCP port of the Postgres that runs on a data directory; `null` if none is running. */
export async function portOfRunning(data: string): Promise<number | null> {
  const content = await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => '');
  const [pid = '', , , port = ''] = content.split('\n');
  const isRunning = pid !== '' && (await commandLine(Number(pid))).includes(data);
  return isRunning && port !== '' ? Number(port) : null;
}

/** Returns the command line of a process; an empty string if there is no such process. */
export async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const ps = promisify(execFile)('ps', ['-o', 'command=', '-p', String(pid)]);
  return ps.then(({ stdout }) => stdout).catch(() => '');
}
