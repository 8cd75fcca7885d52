import type {
  EnqueueMiddleware,
  JobClient,
  JobHandler,
  Logger,
  NewRecurringJob,
  QueuesInCode,
  RunMiddleware,
  WarningRule,
} from '@longshore/jobs';
import {
  checkOptions,
  checkQueuesInCode,
  checkWarningRules,
  isFunction,
  isMiddlewareList,
  isName,
  type OptionNames,
} from '@longshore/jobs/storage';
import type { Database, Resource } from '@longshore/resources';

/** What a process gives to the functions of its application. */
export interface ApplicationServices {
  /**
   * The client of the job store, with the application's `clientMiddleware`. Handlers enqueue with their context instead,
   * which uses this client, so that the jobs join the handler's transaction and name its job.
   */
  readonly client: JobClient;
  /**
   * The database with the application's tables. With `API_STORAGE=memory`, this is an in-memory Postgres in the
   * process.
   */
  readonly database: Database;
  /** A directory to which handlers can write files. */
  readonly directory: string;
  /** The log of the process, at the level that `LOG_LEVEL` sets. */
  readonly logger: Logger;
}

export interface SeedOptions {
  /** Whether to delete the existing rows first. */
  readonly replace?: boolean;
}

/** The tables of an application, with their migrations, resources and example rows. */
export interface ApplicationTables {
  /**
   * The directory of the node-pg-migrate files, and the schema that they create. Each service that needs the tables
   * runs the migrations when it starts.
   */
  readonly migrations: { readonly directory: URL; readonly schema: string };
  /** The resources of the application. The API serves them under `/api/v1`, next to those of the job platform. */
  readonly resources: readonly Resource[];
  /** Fills empty tables with about `rows` example rows. With `replace`, first deletes existing rows. */
  readonly seed?: (database: Database, rows: number, options?: SeedOptions) => Promise<void>;
}

/**
 * The jobs and resources of one domain. Services load them from a module that exports them as `application`:
 *
 * ```ts
 * export const application = defineApplication({
 *   name: 'shop',
 *   createHandlers: () => [handleJob(sendReceipt, send)],
 * });
 * ```
 */
export interface Application {
  /**
   * Identifies the application as the owner of its recurring jobs. Up to 100 letters, digits, `.`, `_`, `-` and `:`,
   * starting with a letter or digit.
   */
  readonly name: string;
  /**
   * Returns the handlers of all jobs of the application. The API also validates new jobs with the handlers' job
   * definitions.
   */
  readonly createHandlers: (services: ApplicationServices) => readonly JobHandler[];
  /**
   * The recurring jobs of the application, defined with `defineRecurringJob`. A job server of the application stores
   * them when it starts.
   */
  readonly recurring?: readonly NewRecurringJob[];
  /**
   * The limits and pauses of queues, by their names. A job server of the application applies what has changed in code since one
   * last did, so a change by an operator lasts until then.
   */
  readonly queueSettings?: QueuesInCode;
  /**
   * Thresholds at which the dashboard warns about job types and queues, and the webhooks to notify. A job server of the
   * application stores the rules when it starts.
   */
  readonly warningRules?: readonly WarningRule[];
  readonly tables?: ApplicationTables;
  /** Wraps every call that enqueues jobs in the processes of the application, whether over HTTP, from a handler or in code. */
  readonly clientMiddleware?: readonly EnqueueMiddleware[];
  /** Wraps every handler of the application. */
  readonly serverMiddleware?: readonly RunMiddleware[];
  /**
   * Called by each API and worker when its storage is open and the tables are migrated, before it takes work. If it
   * throws, the process ends with code 1.
   */
  readonly onStart?: (services: ApplicationServices) => void | Promise<void>;
  /**
   * Called by each process in which `onStart` succeeded, when its requests and jobs have ended, while the storage is still
   * open.
   */
  readonly onStop?: (services: ApplicationServices) => void | Promise<void>;
}

const applicationOptions: OptionNames<Application> = {
  name: true,
  createHandlers: true,
  recurring: true,
  queueSettings: true,
  warningRules: true,
  tables: true,
  clientMiddleware: isMiddlewareList,
  serverMiddleware: isMiddlewareList,
  onStart: isFunction,
  onStop: isFunction,
};

const tablesOptions: OptionNames<ApplicationTables> = { migrations: true, resources: true, seed: true };

/**
 * Validates and freezes an application, and returns it. Call it in the module that exports the application, so that
 * mistakes surface when the module is loaded.
 *
 * @throws {RangeError} with a message that lists every problem: an invalid name, recurring jobs with the same id, or
 *   resources with the same name
 * @throws {TypeError} if an option is unknown, or `createHandlers` is not a function
 */
export function defineApplication(application: Application): Application {
  checkOptions('defineApplication', application, applicationOptions);
  const { name, createHandlers, recurring = [], queueSettings, warningRules, tables } = application;
  if (typeof createHandlers !== 'function')
    throw new TypeError(`defineApplication: createHandlers must be a function that returns the handlers`);
  if (queueSettings !== undefined) checkQueuesInCode('defineApplication: queueSettings', name, queueSettings);
  if (warningRules !== undefined) checkWarningRules('defineApplication: warningRules', warningRules);
  if (tables !== undefined) checkOptions('defineApplication: tables', tables, tablesOptions);
  const problems = [
    ...(isName(name) ? [] : [`"${name}" is not a valid name for an application`]),
    ...repeated(recurring.map(({ id }) => id)).map((id) => `two recurring jobs have the id "${id}"`),
    ...repeated((tables?.resources ?? []).map((resource) => resource.name)).map(
      (resource) => `two resources are named "${resource}"`,
    ),
  ];
  throwIfAny(problems);
  return Object.freeze(application);
}

/** @throws {RangeError} with a message that lists the problems, if there are any */
export function throwIfAny(problems: readonly string[]): void {
  if (problems.length > 0) throw new RangeError(`The application is not valid: ${problems.join('; ')}`);
}

/** Returns the names that occur more than once. */
export function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
