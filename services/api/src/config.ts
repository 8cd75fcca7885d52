import {
  alertSettings,
  applicationVariables,
  type Config,
  dashboardAccess,
  dashboardVariables,
  databaseVariables,
  type Environment,
  problemsOf,
  readConfig,
  readQueues,
  serverVariables,
  serviceVariables,
} from '@longshore/service';
import Type from 'typebox';
import { accessProblems, accessVariables } from './access/access-config.js';

const variables = Type.Object({
  ...serviceVariables,
  ...applicationVariables,
  ...databaseVariables,
  ...serverVariables,
  ...dashboardVariables,
  ...accessVariables,
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  /** With `memory`, all data is lost when this process ends. */
  API_STORAGE: Type.Enum(['postgres', 'memory'], { default: 'postgres' }),
  DATABASE_URL: Type.Optional(databaseVariables.DATABASE_URL),
  /** The base URL of all links in responses; behind a gateway, the gateway's address. */
  API_BASE_URL: Type.Optional(
    Type.String({ pattern: '^https?://', expected: 'a URL that begins with http:// or https://' }),
  ),
  /**
   * The path prefix that clients behind a gateway use before `/api`. The API accepts requests with and without the
   * prefix, because a gateway may strip it.
   */
  API_PATH_PREFIX: Type.String({
    pattern: '^(/[\\w.~-]+)*$',
    expected: 'a path that begins with a slash and does not end with one',
    default: '',
  }),
  /** Whether this process also runs jobs; by default, only with `API_STORAGE=memory`. */
  API_EMBEDDED_SERVER: Type.Optional(Type.Boolean()),
  API_EMBEDDED_DASHBOARD: Type.Optional(Type.Boolean()),
  /**
   * Which 500 responses contain a stack trace: all of them (`always`), or only those to callers with the `admin` scope
   * (`trusted`). Defaults to `trusted` in production, and to `always` otherwise.
   */
  API_ERROR_STACK: Type.Optional(Type.Enum(['always', 'trusted'])),
  /** Whether to accept jobs with names that the application does not define. Their arguments are not validated. */
  API_ACCEPT_UNKNOWN_JOBS: Type.Boolean({ default: false }),
  /**
   * Whether callers must give a reason to pause a queue, a job type or a recurring job, or to delete a job, a queue, a
   * recurring job, a deployment, a set-aside item or an API key.
   */
  API_REQUIRE_REASONS: Type.Boolean({ default: false }),
  /** Maximum backlog of a queue, which is its ready and blocked jobs; further jobs sent over HTTP are rejected. Unlimited by default. */
  API_MAX_BACKLOG: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Maximum number of scheduled and awaiting jobs in a queue, as for `API_MAX_BACKLOG`. Unlimited by default. */
  API_MAX_WAITING: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Maximum number of queues that one caller may create over HTTP. */
  API_MAX_QUEUES_PER_CALLER: Type.Integer({ minimum: 0, maximum: 1_000_000, default: 1_000 }),
  /** Maximum number of queues that all callers together may create; by default, half of `DATABASE_MAX_QUEUES`. */
  API_MAX_QUEUES: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
  /** Maximum number of recurring jobs that one caller may create over HTTP. */
  API_MAX_RECURRING_JOBS_PER_CALLER: Type.Integer({ minimum: 0, maximum: 100_000, default: 100 }),
  /** Maximum number of recurring jobs that all callers together may create. */
  API_MAX_RECURRING_JOBS: Type.Integer({ minimum: 0, maximum: 100_000, default: 1_000 }),
  /** Maximum number of deployments that one caller may record over HTTP. */
  API_MAX_DEPLOYMENTS_PER_CALLER: Type.Integer({ minimum: 0, maximum: 100_000, default: 5_000 }),
  /** Maximum number of deployments that all callers together may record. */
  API_MAX_DEPLOYMENTS: Type.Integer({ minimum: 0, maximum: 100_000, default: 10_000 }),
  /** Minimum time between two due times of a recurring job that is created over HTTP, in seconds. */
  API_MIN_RECURRING_INTERVAL_SECONDS: Type.Integer({ minimum: 1, maximum: 86_400, default: 60 }),
  /** Maximum number of open event streams and `?wait` requests in this process. */
  API_MAX_LISTENERS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  /** Maximum number of open event streams and `?wait` requests per caller, in this process. */
  API_MAX_LISTENERS_PER_CALLER: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1_000 }),
  /** Maximum size of a request body, in bytes; 1 MiB by default. */
  API_BODY_LIMIT_BYTES: Type.Integer({ minimum: 1_024, maximum: 268_435_456, default: 1_048_576 }),
  /**
   * Approximate number of example rows to insert if the application's tables are empty. With 0, no rows are inserted.
   */
  API_SEED_ROWS: Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 }),
  /** How long a job enqueued by `POST /test` takes, in milliseconds. */
  API_TEST_JOB_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 20_000 }),
});

export type ApiConfig = Config<typeof variables>;

/** The environment variables of the API service. */
export { variables as apiVariables };

/**
 * Reads the configuration of the API from the environment.
 *
 * @throws {ConfigError} if a variable is invalid or missing; the message lists every problem
 */
export function readApiConfig(environment: Environment): ApiConfig {
  return readConfig(variables, environment, [
    storageProblems,
    accessProblems,
    ({ WORKER_QUEUES }) => problemsOf(() => readQueues(WORKER_QUEUES)),
    (config) => problemsOf(() => dashboardAccess(config)),
    (config) => problemsOf(() => alertSettings(config)),
  ]);
}

function storageProblems({ API_STORAGE, DATABASE_URL, API_BASE_URL }: ApiConfig): string[] {
  const problems: string[] = [];
  if (API_STORAGE === 'postgres' && DATABASE_URL === undefined)
    problems.push(
      'DATABASE_URL is not set: give postgres://user:password@host:port/database, or set API_STORAGE=memory',
    );
  if (API_BASE_URL !== undefined && !URL.canParse(API_BASE_URL))
    problems.push('API_BASE_URL is not a URL: use scheme, host and port, such as https://example.com');
  return problems;
}

export function showsDashboard({ API_EMBEDDED_DASHBOARD, API_STORAGE }: ApiConfig): boolean {
  return API_EMBEDDED_DASHBOARD ?? API_STORAGE === 'memory';
}

/** Returns the base URL of links, without a trailing slash; defaults to `localhost` with the configured port. */
export function baseUrlOf({ API_BASE_URL, PORT }: ApiConfig): string {
  return API_BASE_URL?.replace(/\/+$/, '') ?? `http://localhost:${PORT}`;
}

/** Returns the URL at which clients reach the service: the base URL followed by the path prefix. */
export function rootUrlOf(config: ApiConfig): string {
  return baseUrlOf(config) + config.API_PATH_PREFIX;
}
