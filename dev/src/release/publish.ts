import { execFile } from 'node:child_process';
import path from 'node:path';
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
 * Returns a line for each tarball, dependencies first: the package with its version, its npm tag and the name of the file. The
 * workflow publishes them in this order, in a job that runs nothing else.
 */
export async function publishingOrder(files: readonly string[]): Promise<string[]> {
  const tarballs = inOrder(await Promise.all(files.map(readTarball)));
  return tarballs.map(
    ({ file, name, version }) => `${name}@${version} ${npmTagOf(version)} ${path.basename(file)}`,
  );
}
