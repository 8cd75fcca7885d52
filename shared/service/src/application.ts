import type { JobHandler, NewRecurringJob } from '@longshore/jobs';
import { checkOptions, isName, type OptionNames } from '@longshore/jobs/storage';
import type { Database, Resource } from '@longshore/resources';

/** The argument of {@link Application.createHandlers}: resources of the process that the handlers can use. */
export interface ApplicationServices {
  /**
   * The database with the application's tables. With `API_STORAGE=memory`, this is an in-memory Postgres in the
   * process.
   */
  readonly database: Database;
  /** A directory to which handlers can write files. */
  readonly directory: string;
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
  readonly tables?: ApplicationTables;
}

const applicationOptions: OptionNames<Application> = {
  name: true,
  createHandlers: true,
  recurring: true,
  tables: true,
};

const tablesOptions: OptionNames<ApplicationTables> = { migrations: true, resources: true, seed: true };

/** An application whose handlers have been created for this process. */
export interface AssembledApplication extends Pick<Application, 'name' | 'tables'> {
  readonly handlers: readonly JobHandler[];
  readonly recurring: readonly NewRecurringJob[];
}

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
  const { name, createHandlers, recurring = [], tables } = application;
  if (typeof createHandlers !== 'function')
    throw new TypeError(`defineApplication: createHandlers must be a function that returns the handlers`);
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

/**
 * Creates the handlers of an application. Each job can have only one handler, and each recurring job needs one.
 *
 * @throws {RangeError} with a message that lists every problem: two handlers for one job, or a recurring job without a
 *   handler
 */
export function assembleApplication(
  { name, createHandlers, recurring = [], tables }: Application,
  services: ApplicationServices,
): AssembledApplication {
  const handlers = createHandlers(services);
  const jobs = handlers.map(({ definition }) => definition.name);
  const orphaned = recurring.filter((job) => !jobs.includes(job.name));
  throwIfAny([
    ...repeated(jobs).map((job) => `two handlers are for the job "${job}"`),
    ...orphaned.map((job) => `the recurring job "${job.id}" enqueues "${job.name}", which has no handler`),
  ]);
  return {
    name,
    handlers,
    recurring,
    ...(tables !== undefined && { tables }),
  };
}

function throwIfAny(problems: readonly string[]): void {
  if (problems.length > 0) throw new RangeError(`The application is not valid: ${problems.join('; ')}`);
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}
