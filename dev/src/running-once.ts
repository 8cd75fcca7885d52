import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { commandLine } from '@longshore/local-postgres';

/**
 * Ensures that only one `make dev` uses a data directory at a time.
 *
 * @param directory an existing directory
 * @returns a function that releases the directory
 * @throws {Error} if another `make dev` is using it; the message contains its process id
 */
export async function lockDataDirectory(directory: string): Promise<() => Promise<void>> {
  const file = path.join(directory, 'dev.pid');
  const pid = Number(await readFile(file, 'utf8').catch(() => '0'));
  if (pid > 0 && (await commandLine(pid)).includes('dev/dist/main.js'))
    throw new Error(
      `make dev is already running (process ${pid}). Stop it with Ctrl-C, or choose another data directory with DATA_DIR`,
    );
  await writeFile(file, String(process.pid));
  return () => rm(file, { force: true });
}
