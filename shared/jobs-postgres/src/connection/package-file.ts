import { existsSync } from 'node:fs';

/**
 * Returns the URL of a file or directory of this package, such as `migrations/`. Returns `null` if it does not exist,
 * and in a bundle, where this module has a different path or none.
 */
export function packageFile(name: string): URL | null {
  const here: unknown = import.meta.url; // undefined in a CommonJS bundle
  if (typeof here !== 'string' || !/\/connection\/package-file\.[jt]s$/.test(here)) return null;
  const url = new URL(`../../${name}`, here);
  return existsSync(url) ? url : null;
}
