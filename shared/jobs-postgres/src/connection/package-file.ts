import { existsSync } from 'node:fs';

/**
 * Returns the URL of a file or directory of this package, such as `migrations/`. Returns `null` if the file does not
 * exist or this module has been bundled.
 */
export function packageFile(name: string): URL | null {
  const here: unknown = import.meta.url; // undefined in a CommonJS bundle
  if (typeof here !== 'string' || !/\/connection\/package-file\.[jt]s$/.test(here)) return null;
  const url = new URL(`../../${name}`, here);
  return existsSync(url) ? url : null;
}
