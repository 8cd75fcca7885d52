import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
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
  const changed = new Set<string>();
  let settled: NodeJS.Timeout | undefined;
  let building = Promise.resolve();
  let builtAt = Date.now();
  const build = async (): Promise<void> => {
    const files = [...changed];
    changed.clear();
    // The compiler skips files that are older than its last output, for example those saved while it was running.
    const isOld = await Promise.all(files.map(async (file) => (await modifiedAt(file)) <= builtAt));
    const force = isOld.includes(true) ? ['--force'] : [];
    try {
      await promisify(execFile)(process.execPath, [compiler, '-b', ...force, ...projects], { cwd: root });
    } catch (error) {
      onFailed((error as { stdout?: string }).stdout ?? String(error));
      return;
    } finally {
      builtAt = Date.now();
    }
    await onBuilt(path.relative(root, files.at(-1) ?? root));
  };
  const folders = ['services', 'shared'].map((folder) => path.join(root, folder));
  const watcher = watch(folders, {
    ignored: /[/\\](dist|node_modules|test|coverage)([/\\]|$)|\.tsbuildinfo$/,
    ignoreInitial: true,
  }).on('all', (_, file) => {
    changed.add(file);
    clearTimeout(settled);
    settled = setTimeout(() => {
      building = building.then(() => (changed.size > 0 ? build() : undefined));
    }, settleMs);
  });
  return async () => {
    clearTimeout(settled);
    await watcher.close();
    await building;
  };
}

/** Resolves to the time of the last modification, in milliseconds since 1970, or to `Infinity` for a deleted file. */
async function modifiedAt(file: string): Promise<number> {
  return stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => Infinity,
  );
}
