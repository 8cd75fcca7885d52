import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** The root of the repository. */
export const house = fileURLToPath(new URL('../../../', import.meta.url));

/** Returns the paths of all files in the repository, relative to its root. Omits files that git ignores. */
export async function sourceFiles(): Promise<string[]> {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { stdout } = await promisify(execFile)('git', list, { cwd: house, maxBuffer: 1e8 });
  return stdout.split('\0').filter((file) => file !== '' && existsSync(path.join(house, file)));
}

export const readSource = (file: string): Promise<string> => readFile(path.join(house, file), 'utf8');
