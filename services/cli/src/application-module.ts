import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { InvalidArgumentError } from 'commander';

/**
 * Sets the environment variable that names the application.
 *
 * @throws {InvalidArgumentError} if neither the argument nor the variable is given
 */
export function nameApplication(argument: string | undefined): string {
  const name = argument ?? process.env['LONGSHORE_APP'];
  if (name === undefined || name === '')
    throw new InvalidArgumentError(
      'Name the module that exports your application, as an argument or in LONGSHORE_APP: ./dist/application.js',
    );
  // An existing file counts as a path even without a leading dot.
  const isFile = /\.[cm]?[jt]s$/.test(name) && !/^[./]/.test(name) && argument !== undefined;
  process.env['LONGSHORE_APP'] = isFile ? `./${name}` : name;
  return process.env['LONGSHORE_APP'];
}

/** Returns the Node.js options that load the application: for TypeScript, those of its own `tsx`. */
export function loaderFor(application: string): string[] {
  return isTypeScript(application) ? ['--import', tsxOf(application)] : [];
}

/** Makes this process able to load the application, which may be TypeScript. */
export async function prepareToLoad(application: string): Promise<void> {
  const options = [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''];
  if (!isTypeScript(application) || options.some((option) => /\btsx\b/.test(option))) return;
  await import(tsxOf(application));
}

function isTypeScript(application: string): boolean {
  return /\.[cm]?ts$/.test(application);
}

/** Returns the URL of `tsx`, which the application installs. Importing it lets the process import TypeScript. */
function tsxOf(application: string): string {
  try {
    return pathToFileURL(createRequire(path.resolve('package.json')).resolve('tsx')).href;
  } catch {
    throw new Error(`${application} is TypeScript: run npm install --save-dev tsx`);
  }
}
