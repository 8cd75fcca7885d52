import type { JobDefinition, JobHandler, NewRecurringJob } from '@longshore/jobs';
import type { Database, Resource } from '@longshore/resources';

/** What an application's handlers work with. */
export interface ApplicationServices {
  readonly database: Database;
  /** Where they may write files. */
  readonly directory: string;
}

export interface SeedOptions {
  /** Whether the rows that are there go. */
  readonly replace?: boolean;
}

/** The part of an application that needs a database. */
export interface ApplicationTables {
  /** Files for node-pg-migrate, and the schema that they are about. Applied by every service that needs it. */
  readonly migrations: { readonly directory: URL; readonly schema: string };
  /** Served below `/api/v1`, beside the jobs. */
  readonly resources: readonly Resource[];
  /** The jobs that the resources enqueue, and the handlers that run them. */
  readonly jobs: readonly JobDefinition[];
  readonly createHandlers: (services: ApplicationServices) => readonly JobHandler[];
  /** Fills empty tables with about so many rows and leaves others alone, unless it is to replace what they hold. */
  readonly seed?: (database: Database, rows: number, options?: SeedOptions) => Promise<void>;
}

/**
 * What a platform team brings: the jobs of its domain and what they do, and its resources. A module exports it as
 * `application`:
 *
 * ```ts
 * export const application = defineApplication({ name: 'shop', handlers: [handleJob(sendReceipt, send)] });
 * ```
 */
export interface Application {
  /** Letters, digits, `.`, `_`, `-` and `:`, at most 100. The owner of its recurring jobs. */
  readonly name: string;
  /** Jobs that need nothing but their arguments: each one's definition and the function that runs it. */
  readonly handlers: readonly JobHandler[];
  /** Schedules that enqueue its jobs, made with `defineRecurringJob`. Stored when a job server of the application starts. */
  readonly recurring?: readonly NewRecurringJob[];
  /** Left out of a process that keeps everything in memory. */
  readonly tables?: ApplicationTables;
}

/**
 * Checks what a platform team brings, so that a slip shows when its module is loaded and not at three in the morning.
 *
 * @throws {RangeError} that lists every problem: a name that is none, two handlers or definitions of one name, a recurring job
 *   without an id of its own or of a job that the application does not have
 */
export function defineApplication(application: Application): Application {
  const problems = problemsOf(application);
  if (problems.length > 0) throw new RangeError(`The application cannot be run: ${problems.join('; ')}`);
  return Object.freeze(application);
}

/** Every job of an application that a client may enqueue. */
export function definitionsOf({ handlers, tables }: Application): JobDefinition[] {
  return [...handlers.map(({ definition }) => definition), ...(tables?.jobs ?? [])];
}

function problemsOf(application: Application): string[] {
  const names = definitionsOf(application).map(({ name }) => name);
  const { name, recurring = [], tables } = application;
  const problems = [
    ...twice(names).map((job) => `two jobs are named "${job}"`),
    ...twice(recurring.map(({ id }) => id)).map((id) => `two recurring jobs have the id "${id}"`),
    ...twice((tables?.resources ?? []).map((resource) => resource.name)).map(
      (resource) => `two resources are named "${resource}"`,
    ),
    ...recurring
      .filter((job) => !names.includes(job.name))
      .map(
        (job) => `the recurring job "${job.id}" enqueues "${job.name}", which is no job of the application`,
      ),
  ];
  return isName(name) ? problems : [`"${name}" cannot name an application`, ...problems];
}

function isName(name: unknown): boolean {
  return typeof name === 'string' && /^[A-Za-z0-9][\w.:-]{0,99}$/.test(name);
}

/** What occurs more than once, each named once. */
function twice(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, place) => names.indexOf(name) !== place))];
}
