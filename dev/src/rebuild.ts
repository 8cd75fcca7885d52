import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { watch } from 'chokidar';

/** How long to wait for further changes before a build, in milliseconds. */
const settleMs = 50;

/**
 * Compiles projects when their sources change.
 *
 * @param root the root of the repository
 * @param projects the folders of the projects to compile; projects that they reference are compiled as well
 * @param onBuilt called after each successful build with the path of a changed file, relative to `root`
 * @param onFailed called after each failed build with the compiler's errors
 * @returns a function that stops watching
 */
export function rebuildOnChange(
  root: string,
  projects: readonly string[],
  onBuilt: (changed: string) => Promise<void>,
  onFailed: (errors: string) => void,
): () => Promise<void> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  let settled: NodeJS.Timeout | undefined;
  let building = Promise.resolve();
  let waiting = false;
  const build = async (changed: string): Promise<void> => {
    try {
      await promisify(execFile)(process.execPath, [compiler, '-b', ...projects], { cwd: root });
    } catch (error) {
      onFailed((error as { stdout?: string }).stdout ?? String(error));
      return;
    }
    await onBuilt(changed);
  };
  const folders = ['services', 'shared'].map((folder) => path.join(root, folder));
  const watcher = watch(folders, {
    ignored: /[/\\](dist|node_modules|test|coverage)([/\\]|$)/,
    ignoreInitial: true,
  }).on('all', (_, file) => {
    clearTimeout(settled);
    settled = setTimeout(() => {
      if (waiting) return; // the build that is about to start will include this change
      waiting = true;
      building = building.then(() => {
        waiting = false;
        return build(path.relative(root, file));
      });
    }, settleMs);
  });
  return async () => {
    clearTimeout(settled);
    await watcher.close();
    await building;
  };
}
