import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type { JobDefinition, JobHandler, NewRecurringJob } from '@longshore/jobs';
import type { Database, Resource } from '@longshore/resources';
import { ConfigError } from './config.js';

/** What an application's handlers work with. */
export interface ApplicationServices {
  readonly database: Database;
  /** Where they may write files. */
  readonly directory: string;
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
  /** Fills empty tables with about so many rows; does nothing to others. */
  readonly seed?: (database: Database, rows: number) => Promise<void>;
}

/**
 * What a platform team brings: the jobs of its domain and what they do, and its resources. A module exports it as
 * `application`:
 *
 * ```ts
 * export const application = { name: 'shop', handlers: [handleJob(sendReceipt, send)] };
 * ```
 */
export interface Application {
  readonly name: string;
  /** Jobs that need nothing but their arguments: each one's definition and the function that runs it. */
  readonly handlers: readonly JobHandler[];
  /** Schedules that enqueue its jobs, made with `defineRecurringJob`. Stored when a job server of the application starts. */
  readonly recurring?: readonly NewRecurringJob[];
  /** Left out of a process that keeps everything in memory. */
  readonly tables?: ApplicationTables;
}

/** Every job of an application that a client may enqueue. */
export function definitionsOf({ handlers, tables }: Application): JobDefinition[] {
  return [...handlers.map(({ definition }) => definition), ...(tables?.jobs ?? [])];
}

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
  return module.application;
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
