import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from 'commander';

/**
 * Determines which module exports the application, stores the module's name in `LONGSHORE_APP` and returns the name.
 * The argument takes precedence over the current value of the variable.
 *
 * @throws {InvalidArgumentError} if neither the argument nor the variable is given
 */
export function nameApplication(argument: string | undefined): string {
  const name = argument ?? process.env['LONGSHORE_APP'];
  if (name === undefined || name === '')
    throw new InvalidArgumentError(
      'Name the module that exports your application, as an argument or in LONGSHORE_APP: ./dist/application.js',
    );
  // An argument with the extension of a script is a path, even without a leading dot.
  const isFile = /\.[cm]?[jt]s$/.test(name) && !/^[./]/.test(name) && argument !== undefined;
  process.env['LONGSHORE_APP'] = isFile ? `./${name}` : name;
  return process.env['LONGSHORE_APP'];
}

/** Returns the Node.js options for loading the application: an import of `tsx` for TypeScript, otherwise none. */
export function loaderFor(application: string): string[] {
  return isTypeScript(application) ? ['--import', tsxOf(application)] : [];
}

/**
 * Prepares this process to load the application. Imports `tsx` if the application is TypeScript and the Node.js options
 * of this process do not mention `tsx`.
 */
export async function prepareToLoad(application: string): Promise<void> {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (!isTypeScript(application) || options.some((option) => /\btsx\b/.test(option))) return;
  await import(tsxOf(application));
}

function isTypeScript(application: string): boolean {
  return /\.[cm]?ts$/.test(application);
}

/**
 * Returns the URL of the `tsx` package installed in the working directory. Importing this package enables imports of
 * TypeScript files.
 *
 * @throws {Error} if `tsx` is not installed
 */
function tsxOf(application: string): string {
  try {
    return pathToFileURL(createRequire(path.resolve('package.json')).resolve('tsx')).href;
  } catch {
    throw new Error(`${application} is TypeScript: run npm install --save-dev tsx`);
  }
}
