import path from 'node:path';
import { pathToFileURL } from 'node:url';
import {
  type Application,
  type ApplicationServices,
  assembleApplication,
  type AssembledApplication,
  defineApplication,
} from './application.js';
import { ConfigError } from './config.js';

/**
 * Loads the application of a service and creates its handlers.
 *
 * @param specifier a package name, or a path that starts with a dot or a slash; relative paths start at the working
 *   directory
 * @throws {ConfigError} if `specifier` is undefined, the module cannot be loaded, or it does not export a valid
 *   application
 */
export async function loadApplication(
  specifier: string | undefined,
  services: ApplicationServices,
): Promise<AssembledApplication> {
  if (specifier === undefined)
    throw new ConfigError(
      'LONGSHORE_APP is not set: name the module that exports your application, such as ./dist/application.js',
    );
  const isPath = /^[./]/.test(specifier);
  const url = isPath ? pathToFileURL(path.resolve(specifier)).href : specifier;
  let module: { application?: unknown };
  try {
    module = (await import(url)) as { application?: unknown };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`LONGSHORE_APP: the module "${specifier}" cannot be loaded: ${reason}`, {
      cause: error,
    });
  }
  if (!isApplication(module.application)) {
    throw new ConfigError(
      `LONGSHORE_APP: the module "${specifier}" must export "application" with a name and a function "createHandlers"`,
    );
  }
  try {
    return assembleApplication(defineApplication(module.application), services);
  } catch (error) {
    if (!(error instanceof RangeError || error instanceof TypeError)) throw error;
    throw new ConfigError(`LONGSHORE_APP: the module "${specifier}": ${error.message}`);
  }
}

function isApplication(value: unknown): value is Application {
  return (
    typeof value === 'object' &&
    value !== null &&
    'name' in value &&
    typeof value.name === 'string' &&
    'createHandlers' in value &&
    typeof value.createHandlers === 'function'
  );
}
