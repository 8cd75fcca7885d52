import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { peersDirectory } from '../peers.js';

/**
 * Imports a package that is installed only for the benchmarks. The package's types do not exist when Longshore is
 * built, so the caller declares the part that it uses.
 */
export async function importPeer<Module>(name: string): Promise<Module> {
  const { resolve } = createRequire(new URL('package.json', peersDirectory));
  return (await import(pathToFileURL(resolve(name)).href)) as Module;
}
