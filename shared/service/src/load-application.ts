import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { type Application, defineApplication } from './application.js';
import { ConfigError } from './config.js';

/**
 * Loads an application.
 *
 * @param specifier a package's name, or a path that begins with a dot or a slash and starts at the working directory
 * @throws {ConfigError} if there is no such module, or if it exports no application
 */
export async function loadApplication(specifier: string): Promise<Application> {
  const isPath = /^[./]/.test(specifier);
  const url = isPath ? pathToFileURL(path.resolve(specifier)).href : specifier;
  let module: { application?: unknown };
  try {
    module = (await import(url)) as { application?: unknown };
  } catch (error) {
    throw new ConfigError(`LONGSHORE_APP: the module "${specifier}" cannot be loaded`, { cause: error });
  }
  if (!isApplication(module.application)) {
    throw new ConfigError(
      `LONGSHORE_APP: the module "${specifier}" must export "application" with a name and a list of handlers`,
    );
  }
  try {
    return defineApplication(module.application);
  } catch (error) {
    throw new ConfigError(`LONGSHORE_APP: the module "${specifier}": ${(error as RangeError).message}`);
  }
}

function isApplication(value: unknown): value is Application {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'handlers' in value &&
    Array.isArray(value.handlers)
  );
}
