import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import {
  type EnqueueMiddleware,
  JobClient,
  type JobHandler,
  type JobStorage,
  type NewRecurringJob,
  type QueuesInCode,
  type RunMiddleware,
  type WarningRule,
} from '@longshore/jobs';
import { namesOf } from '@longshore/jobs/storage';
import type { Database } from '@longshore/resources';
import type { Logger } from 'pino';
import Type from 'typebox';
import {
  type Application,
  type ApplicationServices,
  defineApplication,
  repeated,
  throwIfAny,
} from './application.js';
import { type Config, ConfigError } from './config.js';
import { testJob, testJobHandler } from './test-job.js';
import { applicationVariables, serverVariables, serviceVariables } from './variables.js';

const variables = Type.Object({
  NODE_ENV: serviceVariables.NODE_ENV,
  WORKER_RESULTS_DIR: serverVariables.WORKER_RESULTS_DIR,
  ...applicationVariables,
});

/** Returns what can be said against the module of the application without running it. */
export function applicationProblems({
  LONGSHORE_APP: specifier,
}: Pick<Config<typeof variables>, 'LONGSHORE_APP'>): string[] {
  if (specifier === undefined) return [notSet];
  const { resolve = String } = import.meta as Partial<ImportMeta>; // loaders for TypeScript may lack it
  try {
    const url = resolve(urlOf(specifier));
    return url.startsWith('file:') && !existsSync(fileURLToPath(url))
      ? [`LONGSHORE_APP: there is no file "${specifier}"`]
      : [];
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return [`LONGSHORE_APP: the module "${specifier}" cannot be found: ${reason}`];
  }
}

const notSet =
  'LONGSHORE_APP is not set: name the module that exports your application, such as ./dist/application.js';

/** Returns what to import for the value of `LONGSHORE_APP`. */
function urlOf(specifier: string): string {
  return /^[./]/.test(specifier) ? pathToFileURL(path.resolve(specifier)).href : specifier;
}

/** What a process uses for its application. */
export interface ApplicationParts {
  readonly storage: JobStorage;
  /** The database with the application's tables. */
  readonly database: Database;
  readonly logger: Logger;
  /** Middleware of the service's client, outside of the application's; none by default. */
  readonly clientMiddleware?: readonly EnqueueMiddleware[];
  /** Middleware of the service's job server, outside of the application's; none by default. */
  readonly serverMiddleware?: readonly RunMiddleware[];
}

/** An application whose handlers have been created for this process. */
export interface LoadedApplication extends Pick<Application, 'name' | 'tables'> {
  readonly client: JobClient;
  /** The handlers of its jobs, and of the built-in job `test` if the process has that. */
  readonly handlers: readonly JobHandler[];
  readonly recurring: readonly NewRecurringJob[];
  readonly queueSettings: QueuesInCode;
  readonly warningRules: readonly WarningRule[];
  readonly serverMiddleware: readonly RunMiddleware[];
  readonly hasTestJob: boolean;
  /** Calls the application's `onStart`. */
  start(): Promise<void>;
  /** Calls the application's `onStop` if `start` has succeeded. */
  stop(): Promise<void>;
}

/**
 * Loads the application that `LONGSHORE_APP` names, and creates its handlers. The variable is a package name, or a path
 * that starts with a dot or a slash; relative paths start at the working directory.
 *
 * @throws {ConfigError} if the variable is not set, the module cannot be loaded, or it does not export a valid application
 */
export async function loadApplication(
  config: Config<typeof variables>,
  parts: ApplicationParts,
): Promise<LoadedApplication> {
  const { LONGSHORE_APP: specifier, LONGSHORE_TEST_JOB, NODE_ENV, WORKER_RESULTS_DIR: directory } = config;
  if (specifier === undefined) throw new ConfigError(notSet);
  let module: { application?: unknown };
  try {
    module = (await import(urlOf(specifier))) as { application?: unknown };
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
  const hasTestJob = LONGSHORE_TEST_JOB ?? NODE_ENV !== 'production';
  try {
    const application = defineApplication(module.application);
    const { storage, database, logger, clientMiddleware = [], serverMiddleware = [] } = parts;
    const middleware = [...clientMiddleware, ...(application.clientMiddleware ?? [])];
    const services = { client: new JobClient(storage, { middleware }), database, directory, logger };
    return {
      ...assembled(application, services, hasTestJob),
      serverMiddleware: [...serverMiddleware, ...(application.serverMiddleware ?? [])],
    };
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

/** @throws {RangeError} with every problem: two handlers for one job, or a recurring job without a handler */
function assembled(
  application: Application,
  services: ApplicationServices,
  hasTestJob: boolean,
): Omit<LoadedApplication, 'serverMiddleware'> {
  const { name, recurring = [], queueSettings = {}, warningRules = [], tables } = application;
  const own = application.createHandlers(services);
  const handlers = hasTestJob ? [...own, testJobHandler(services.directory)] : own;
  const names = own.flatMap(({ definition }) => namesOf(definition));
  const orphaned = recurring.filter(
    (job) => !handlers.some(({ definition }) => namesOf(definition).includes(job.name)),
  );
  throwIfAny([
    ...repeated(names).map((job) => `two handlers are for the job "${job}"`),
    ...(hasTestJob && names.includes(testJob.name) ? [nameOfTestJob] : []),
    ...orphaned.map((job) => `the recurring job "${job.id}" enqueues "${job.name}", which has no handler`),
  ]);
  let hasStarted = false;
  return {
    name,
    client: services.client,
    handlers,
    recurring,
    queueSettings,
    warningRules,
    hasTestJob,
    ...(tables !== undefined && { tables }),
    start: async () => {
      await application.onStart?.(services);
      hasStarted = true;
    },
    stop: async () => {
      if (hasStarted) await application.onStop?.(services);
    },
  };
}

const nameOfTestJob =
  'a job "test" is built in, which POST /test enqueues: rename the job of the application, or set LONGSHORE_TEST_JOB=false in the api and the workers';
