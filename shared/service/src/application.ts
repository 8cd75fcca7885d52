import type { JobHandler, NewRecurringJob } from '@longshore/jobs';
import type { Database, Resource } from '@longshore/resources';

/** What a service offers the handlers of its application. */
export interface ApplicationServices {
  /** The pool of the application's tables; with `API_STORAGE=memory`, a Postgres in the memory of the process. */
  readonly database: Database;
  /** A directory that handlers may write files to. */
  readonly directory: string;
}

export interface SeedOptions {
  /** Whether to delete the existing rows first. */
  readonly replace?: boolean;
}

/** The part of an application that needs a database. */
export interface ApplicationTables {
  /** Files for node-pg-migrate, and the schema that they create. Applied at start by each service that needs them. */
  readonly migrations: { readonly directory: URL; readonly schema: string };
  /** Served below `/api/v1`, like the resources for jobs. */
  readonly resources: readonly Resource[];
  /** Fills empty tables with about `rows` rows. Leaves other tables alone unless `replace` is set. */
  readonly seed?: (database: Database, rows: number, options?: SeedOptions) => Promise<void>;
}

/**
 * The jobs and resources of a domain, as a platform team writes them. A module exports it as `application`:
 *
 * ```ts
 * export const application = defineApplication({
 *   name: 'shop',
 *   createHandlers: () => [handleJob(sendReceipt, send)],
 * });
 * ```
 */
export interface Application {
  /** Letters, digits, `.`, `_`, `-` and `:`, at most 100. The owner of its recurring jobs. */
  readonly name: string;
  /**
   * Returns the handlers of all its jobs, which also make their definitions known to clients. Called once per process.
   */
  readonly createHandlers: (services: ApplicationServices) => readonly JobHandler[];
  /** Schedules of its jobs, made with `defineRecurringJob`. Stored when a job server of the application starts. */
  readonly recurring?: readonly NewRecurringJob[];
  readonly tables?: ApplicationTables;
}

/** An application with the handlers for one process. */
export interface AssembledApplication extends Pick<Application, 'name' | 'tables'> {
  readonly handlers: readonly JobHandler[];
  readonly recurring: readonly NewRecurringJob[];
}

/**
 * Checks an application, so that mistakes show when its module is loaded.
 *
 * @throws {RangeError} that lists every problem: an invalid name, or two recurring jobs or resources with the same name
 */
export function defineApplication(application: Application): Application {
  const { name, recurring = [], tables } = application;
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
 * Creates the handlers of an application and checks them together with its schedules.
 *
 * @throws {RangeError} that lists every problem: two handlers for one job, or a recurring job without a handler
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

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[A-Za-z0-9][\w.:-]{0,99}$/.test(name);
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))];
}
