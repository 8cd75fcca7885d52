import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { npmTagOf } from './version.js';

const execute = promisify(execFile);

/** A tarball and the parts of its manifest that are needed to publish it. */
export interface Tarball {
  readonly file: string;
  readonly name: string;
  readonly version: string;
  /** Names of the packages that this package depends on. */
  readonly needs: readonly string[];
}

/** Reads the manifest of a tarball. */
export async function readTarball(file: string): Promise<Tarball> {
  const { stdout } = await execute('tar', ['-xzOf', file, 'package/package.json']);
  const manifest = JSON.parse(stdout) as { readonly name: string; readonly version: string } & Partial<
    Record<'dependencies' | 'peerDependencies', Record<string, string>>
  >;
  const needs = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies });
  return { file, name: manifest.name, version: manifest.version, needs };
}

/**
 * Sorts tarballs so that dependencies come first, because a user may install a package before all packages are
 * published.
 */
export function inOrder(tarballs: readonly Tarball[]): Tarball[] {
  const byName = new Map(tarballs.map((tarball) => [tarball.name, tarball]));
  const sorted = new Set<Tarball>();
  const add = (tarball: Tarball): void => {
    if (sorted.has(tarball)) return;
    for (const name of tarball.needs) {
      const needed = byName.get(name);
      if (needed !== undefined) add(needed);
    }
    sorted.add(tarball);
  };
  for (const tarball of tarballs.toSorted((one, other) => (one.name < other.name ? -1 : 1))) add(tarball);
  return [...sorted];
}

/**
 * Publishes tarballs with provenance, dependencies first. Skips versions that are already published, so that an
 * interrupted release can be continued. A dry run skips nothing.
 *
 * @param report called once per package, with a line that describes the result
 */
export async function publish(
  files: readonly string[],
  { dryRun }: { readonly dryRun: boolean },
  report: (line: string) => void,
): Promise<void> {
  for (const { file, name, version } of inOrder(await Promise.all(files.map(readTarball)))) {
    if (!dryRun && (await isPublished(name, version))) {
      report(`${name}@${version} is already published`);
      continue;
    }
    const how = dryRun ? ['--dry-run', '--provenance=false'] : ['--provenance'];
    await execute('npm', ['publish', file, '--access=public', `--tag=${npmTagOf(version)}`, ...how]);
    report(`${name}@${version} ${dryRun ? 'would be published' : 'is published'} as ${npmTagOf(version)}`);
  }
}

async function isPublished(name: string, version: string): Promise<boolean> {
  try {
    const { stdout } = await execute('npm', ['view', `${name}@${version}`, 'version']);
    return stdout.trim() === version;
  } catch (error) {
    if (String((error as { stderr?: unknown }).stderr).includes('E404')) return false;
    throw error;
  }
}
