import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { peersDirectory } from '../peers.js';

/**
 * Imports a package that is installed for the benchmarks only. Its types are not there when Longshore is built, so the
 * caller says which part of it is used.
 */
export async function importPeer<Module>(name: string): Promise<Module> {
  const { resolve } = createRequire(new URL('package.json', peersDirectory));
  return (await import(pathToFileURL(resolve(name)).href)) as Module;
}
