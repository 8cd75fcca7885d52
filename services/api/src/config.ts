import {
  type Config,
  ConfigError,
  dashboardVariables,
  databaseVariables,
  type Environment,
  readConfig,
  serverVariables,
  serviceVariables,
} from '@longshore/service';
import Type from 'typebox';
import { accessVariables, checkAccess } from './access/access-config.js';

const variables = Type.Object({
  ...serviceVariables,
  ...databaseVariables,
  ...serverVariables,
  ...dashboardVariables,
  ...accessVariables,
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
  /** `memory`: everything in this process, nothing kept. */
  STORAGE: Type.Enum(['postgres', 'memory'], { default: 'postgres' }),
  DATABASE_URL: Type.Optional(databaseVariables.DATABASE_URL),
  /** Where links start; behind a gateway, its address. */
  BASE_URL: Type.Optional(Type.String({ pattern: '^https?://' })),
  /** The path before `/api` at a gateway, whether that keeps it in requests or not. */
  PATH_PREFIX: Type.String({ pattern: '^(/[\\w.~-]+)*$', default: '' }),
  /** Runs jobs in this process too. */
  EMBEDDED_SERVER: Type.Optional(Type.Boolean()),
  EMBEDDED_DASHBOARD: Type.Optional(Type.Boolean()),
  /** Who sees the stack trace of a 500; in production only callers with the `admin` scope. */
  ERROR_STACK: Type.Optional(Type.Enum(['always', 'trusted'])),
  /** Takes jobs of names that the application does not define, with whatever arguments. */
  ACCEPT_UNKNOWN_JOBS: Type.Boolean({ default: false }),
  /** A queue with so many ready jobs takes no more over HTTP; any number unless set. */
  MAX_BACKLOG: Type.Optional(Type.Integer({ minimum: 1 })),
  /** Streams of events and `?wait` that may be open at once, of all callers and of one. */
  MAX_LISTENERS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  MAX_LISTENERS_PER_CALLER: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1_000 }),
  /** The largest body of a request; 1 MiB by default. */
  BODY_LIMIT_BYTES: Type.Integer({ minimum: 1_024, maximum: 268_435_456, default: 1_048_576 }),
  /** Fills the application's empty tables with about so many example rows; 0 for none. */
  SEED_ROWS: Type.Integer({ minimum: 0, maximum: 10_000_000, default: 0 }),
  /** How long a job of `POST /test` takes. */
  TEST_JOB_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 20_000 }),
});

export type ApiConfig = Config<typeof variables>;

/** @throws {ConfigError} that lists every problem */
export function readApiConfig(environment: Environment): ApiConfig {
  const config = readConfig(variables, environment);
  if (config.STORAGE === 'postgres' && config.DATABASE_URL === undefined) {
    throw new ConfigError(
      'DATABASE_URL is not set: give postgres://user:password@host:port/database, or set STORAGE=memory',
    );
  }
  if (config.BASE_URL !== undefined && !URL.canParse(config.BASE_URL))
    throw new ConfigError('BASE_URL is no URL: give scheme, host and port, such as https://example.com');
  checkAccess(config);
  return config;
}

/** Where links start. */
export function baseUrlOf({ BASE_URL, PORT }: ApiConfig): string {
  return BASE_URL?.replace(/\/+$/, '') ?? `http://localhost:${PORT}`;
}

/** Where the service is found from outside. */
export function rootUrlOf(config: ApiConfig): string {
  return baseUrlOf(config) + config.PATH_PREFIX;
}
