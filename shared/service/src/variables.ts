import { availableParallelism } from 'node:os';
import type { RetentionDays } from '@longshore/jobs/storage';
import type { Logger } from 'pino';
import Type from 'typebox';
import type { Config } from './config.js';

/*
 * In addition to JSON Schema, a variable can have:
 * - `secret: true`: it is also accepted as a file, whose path is in the variable `{NAME}_FILE`, and its value is never shown
 * - `reread: true`: what uses it reads its file again; if it is in a file, its value is the `file:` URL of the file
 * - `expected`: what it must be, in words, for the message about a value that does not match its pattern
 */

export const serviceVariables = {
  NODE_ENV: Type.String({ default: 'development' }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  /** The address to listen on. The container images set `0.0.0.0`. */
  HOST: Type.String({ default: '127.0.0.1' }),
  HTTP_MAX_CONNECTIONS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 20_000 }),
  /** Maximum number of open connections per network address. All clients behind a proxy share the proxy's address. */
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  /**
   * How long an idle HTTP connection is kept open, in milliseconds. The default exceeds the idle timeout of most load
   * balancers (60 s). Otherwise the service could close a connection just as a load balancer reuses it.
   */
  HTTP_KEEP_ALIVE_MS: Type.Integer({ minimum: 1_000, maximum: 3_600_000, default: 75_000 }),
  /**
   * How long requests in progress can continue after SIGTERM, in milliseconds. After this time, their connections are
   * closed.
   */
  HTTP_STOP_TIMEOUT_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 5_000 }),
  /**
   * How many requests are logged with a line each, per second; the others are counted in one line a second. With 0, only
   * requests with a status of 500 or above are logged.
   */
  HTTP_ACCESS_LOG_PER_SECOND: Type.Integer({ minimum: 0, maximum: 10_000, default: 20 }),
  /**
   * The base URL of an OpenTelemetry collector that accepts OTLP over HTTP, usually on port 4318. By default, there are no
   * spans, and the SDK of OpenTelemetry is not loaded.
   */
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(
    Type.String({
      pattern: '^https?://',
      expected: 'the base URL of an OpenTelemetry collector, http://host:4318',
    }),
  ),
};

/** Variables of a service that loads an application. */
export const applicationVariables = {
  /** The module of the application: the name of a package, or a path that begins with a dot or a slash. */
  LONGSHORE_APP: Type.Optional(Type.String()),
  /** Whether there is the built-in job `test`, and `POST /test`. By default, unless `NODE_ENV` is `production`. */
  LONGSHORE_TEST_JOB: Type.Optional(Type.Boolean()),
};

const host = String.raw`[\w-]+(\.[\w-]+)*`;

/** Variables of a service that protects its metrics by host name. */
export const metricsVariables = {
  /**
   * Host names that requests for metrics can use besides `localhost` and IP addresses. Comma-separated, without
   * ports.
   */
  HTTP_ALLOWED_HOSTS: Type.Optional(
    Type.String({
      pattern: `^ *${host} *(, *${host} *)*$`,
      expected: 'host names without ports, separated by commas',
    }),
  ),
};

const databaseUrl = () =>
  Type.String({
    pattern: '^postgres(ql)?://',
    expected: 'the URL of a Postgres database, postgres://user:password@host:port/database',
    secret: true,
    reread: true,
  });

/** Variables of a service that uses the Postgres job storage. */
export const databaseVariables = {
  DATABASE_URL: databaseUrl(),
  /** The schema of the jobs. The API's own tables are in the schema `{DATABASE_SCHEMA}_api`. */
  DATABASE_SCHEMA: Type.String({
    pattern: '^(?!pg_)[a-z_][a-z0-9_]{0,58}$',
    expected:
      'the name of a schema: lowercase letters, digits and underscores, at most 59, not beginning with a digit or pg_',
    default: 'longshore',
  }),
  /** `transaction` if `DATABASE_URL` is the address of a connection pooler in transaction mode. */
  DATABASE_POOLER: Type.Enum(['none', 'transaction'], { default: 'none' }),
  /** `citus` distributes the jobs over the nodes of a Citus cluster. `DATABASE_URL` must then name the coordinator. */
  DATABASE_DISTRIBUTION: Type.Enum(['none', 'citus'], { default: 'none' }),
  /** A URL that bypasses the connection pooler; used for migrations. */
  DATABASE_DIRECT_URL: Type.Optional(databaseUrl()),
  /**
   * `verify` if the service must not change tables: it then waits until `longshore migrate` has brought them up to date.
   * With `run`, each service does so when it starts.
   */
  DATABASE_MIGRATE: Type.Enum(['run', 'verify'], { default: 'run' }),
  /**
   * `paused` if the database may be a restored copy: when a service first finds it to be one, the installation is paused,
   * until an operator resumes it. No jobs start, recurring jobs enqueue none, and no webhooks are called.
   */
  LONGSHORE_START: Type.Enum(['running', 'paused'], { default: 'running' }),
  /** The URL of a read replica for searches that read many rows; by default, these use `DATABASE_URL`. */
  DATABASE_SEARCH_URL: Type.Optional(databaseUrl()),
  /** How far the read replica can be behind before searches use `DATABASE_URL`, in milliseconds. */
  DATABASE_SEARCH_MAX_LAG_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 10_000 }),
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 2, maximum: 500, default: 10 }),
  /** Number of connections for reads. `DATABASE_READ_TIMEOUT_MS` limits the duration of each read. */
  DATABASE_READ_POOL_SIZE: Type.Integer({ minimum: 1, maximum: 500, default: 4 }),
  DATABASE_READ_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 3_600_000, default: 5_000 }),
  /** Maximum time to wait for a connection, whether a new one or a busy one of the pool, in milliseconds. */
  DATABASE_CONNECT_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 3_600_000, default: 5_000 }),
  /**
   * How long Postgres can leave everything unanswered, in milliseconds. After this time, all connections are closed, and
   * requests get 503.
   */
  DATABASE_SILENCE_TIMEOUT_MS: Type.Integer({ minimum: 500, maximum: 3_600_000, default: 1_600 }),
  DATABASE_MAX_QUEUES: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    maximum: 3_600_000,
    default: 300_000,
  }),
  /** Maximum time that a handler's transaction can be idle between statements, in milliseconds. */
  DATABASE_TRANSACTION_IDLE_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    maximum: 86_400_000,
    default: 300_000,
  }),
  DATABASE_USE_RECOMMENDED_ISOLATION_LEVEL: Type.Boolean({ default: true }),
  /**
   * Whether clients and servers can write to the same queue concurrently, with only row locks. With `false`, they write
   * one at a time.
   */
  DATABASE_DISABLE_GLOBAL_LOCKS: Type.Boolean({ default: true }),
  /** How many days jobs in the state `done` are kept. The next two variables apply to failed and cancelled jobs. */
  DATABASE_RETENTION_DONE_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 7 }),
  DATABASE_RETENTION_FAILED_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 30 }),
  DATABASE_RETENTION_CANCELLED_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 7 }),
};

/** Variables of a service that runs jobs. */
export const serverVariables = {
  /**
   * The application's version; empty if it has none. The dashboard marks a deployment on its charts when a server
   * starts with a new version.
   */
  WORKER_VERSION: Type.String({ maxLength: 100, default: '' }),
  WORKER_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 1_000, default: 10 }),
  /**
   * The queues to consume, comma-separated: in order of priority, or with weights (`critical=6,default=3`). Default:
   * all queues of the application's jobs.
   */
  WORKER_QUEUES: Type.String({ default: '' }),
  WORKER_SERVER_TIMEOUT_MS: Type.Integer({ minimum: 5_000, maximum: 3_600_000, default: 30_000 }),
  WORKER_SLIDING_INVISIBILITY_TIMEOUT_MS: Type.Integer({
    minimum: 1_000,
    maximum: 86_400_000,
    default: 300_000,
  }),
  WORKER_QUEUE_POLL_INTERVAL_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  /** How long running jobs can continue after SIGTERM, in milliseconds. */
  WORKER_STOP_TIMEOUT_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 25_000 }),
  /** Maximum number of threads for CPU-bound handlers. */
  WORKER_THREADS: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: Math.max(1, availableParallelism() - 1),
  }),
  /** Maximum number of log lines stored per attempt. */
  WORKER_JOB_LOG_MAX_LINES: Type.Integer({ minimum: 0, maximum: 100_000, default: 1_000 }),
  /** Maximum size of a log line, in bytes. */
  WORKER_JOB_LOG_MAX_LINE_BYTES: Type.Integer({ minimum: 100, maximum: 65_536, default: 4_096 }),
  /** Whether the log lines of handlers also go to standard output, with the id of their job and of its trace. */
  WORKER_JOB_LOG_STDOUT: Type.Boolean({ default: false }),
  /**
   * How the span of an attempt refers to the one in which its job was enqueued: `link` makes each attempt a trace of its
   * own, and `child` makes it a part of the same trace. Used if `OTEL_EXPORTER_OTLP_ENDPOINT` is set.
   */
  WORKER_TRACE: Type.Enum(['link', 'child'], { default: 'link' }),
  /** Directory for files written by the application's jobs and by test jobs (`POST /test`). */
  WORKER_RESULTS_DIR: Type.String({ default: '.data/results' }),
};

/** Variables of a service that answers requests of clients, and may run behind a proxy. */
export const proxyVariables = {
  /**
   * How long the service goes on serving after SIGTERM while `/readyz` says 503, in milliseconds, so that load balancers
   * stop sending requests to it before it stops accepting them. Defaults to 5,000 in production, and to 0 otherwise.
   */
  HTTP_DRAIN_MS: Type.Optional(Type.Integer({ minimum: 0, maximum: 600_000 })),
  /** Number of trusted proxies in front of the service. Each proxy appends an address to `X-Forwarded-For`. */
  HTTP_TRUSTED_PROXIES: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
};

/** Variables of a service that shows the dashboard. */
export const dashboardVariables = {
  DASHBOARD_PATH: Type.String({
    pattern: '^(/|(/[\\w~-][\\w.~-]*)+/?)$',
    expected: 'a path that begins with a slash, such as /job-dashboard',
    default: '/job-dashboard',
  }),
  DASHBOARD_INSTANCE: Type.String({ maxLength: 40, default: '' }),
  /** The path of an SVG, PNG, WebP or JPEG file of at most 100 kB. Replaces the Longshore logo. */
  DASHBOARD_LOGO: Type.String({ default: '' }),
  DASHBOARD_ACCENT: Type.String({
    pattern: '^(#([0-9a-fA-F]{3}){1,2})?$',
    expected: 'a colour such as #8a1c7c',
    default: '',
  }),
  /** The password that all users share. Only one way to sign in can be configured. */
  DASHBOARD_PASSWORD: Type.String({ default: '', secret: true }),
  /** Users with individual passwords: `ann:admin:{password},bob:viewer:scrypt:{salt}:{hash}`. */
  DASHBOARD_USERS: Type.String({ default: '', secret: true }),
  /**
   * The issuer URL of the OpenID Connect provider. The next four variables and `DASHBOARD_BASE_URL` configure the
   * dashboard as a client of the provider.
   */
  DASHBOARD_OIDC_ISSUER: Type.String({ default: '' }),
  DASHBOARD_OIDC_CLIENT_ID: Type.String({ default: '' }),
  DASHBOARD_OIDC_CLIENT_SECRET: Type.String({ default: '', secret: true }),
  DASHBOARD_OIDC_SCOPE: Type.String({ default: 'openid profile email' }),
  DASHBOARD_OIDC_ROLE_CLAIM: Type.String({ default: 'roles' }),
  /**
   * The public URL of the dashboard. Used for the redirect after an OpenID Connect sign-in, and for links in alert
   * messages.
   */
  DASHBOARD_BASE_URL: Type.String({ default: '' }),
  /** The request header with the user's name, set by an authenticating proxy. */
  DASHBOARD_PROXY_USER_HEADER: Type.String({
    pattern: '^[\\w-]*$',
    expected: 'the name of a header',
    default: '',
  }),
  /** The request header with the user's groups, set by the proxy. */
  DASHBOARD_PROXY_GROUPS_HEADER: Type.String({
    pattern: '^[\\w-]*$',
    expected: 'the name of a header',
    default: '',
  }),
  DASHBOARD_PROXY_GROUPS_SEPARATOR: Type.String({ minLength: 1, default: ',' }),
  /** Addresses and networks of the proxies whose headers are trusted, comma-separated. */
  DASHBOARD_PROXY_ADDRESSES: Type.String({ default: '' }),
  /** Maps group names of the provider or proxy to roles: `sre=admin,developers=operator`. */
  DASHBOARD_ROLES: Type.String({ default: '' }),
  /** The role of users without a mapped group; `none` denies them access. */
  DASHBOARD_DEFAULT_ROLE: Type.Enum(['none', 'viewer', 'operator', 'admin'], { default: 'none' }),
  /**
   * The secret for signing sessions and forms; must be the same in all processes. If empty, the signing key is derived
   * from the client secret or the plain-text passwords. Without these, or if a password is configured as a hash, the
   * key is random.
   */
  DASHBOARD_SECRET: Type.String({ default: '', secret: true }),
  /** Whether pausing, deleting jobs or queues, and discarding set-aside items require a reason. */
  DASHBOARD_REQUIRE_REASONS: Type.Boolean({ default: false }),
  /** Time limit for loading each region of a page, in milliseconds. A region that takes longer is left out. */
  DASHBOARD_READ_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 3_600_000, default: 2_000 }),
  /** URLs of the alert webhooks, comma-separated. They receive a message when a warning begins or ends. */
  DASHBOARD_ALERT_URLS: Type.String({ default: '', secret: true }),
  /** The key that signs webhook messages: 24 to 64 random bytes as Base64, optionally after `whsec_`. */
  DASHBOARD_ALERT_SECRET: Type.String({ default: '', secret: true }),
  /** The format of webhook messages: Standard Webhooks, or text for Slack and compatible chats. */
  DASHBOARD_ALERT_FORMAT: Type.Enum(['standard', 'slack'], { default: 'standard' }),
  /** The URL of a job's logs, with placeholders such as `{jobId}`. */
  DASHBOARD_LOG_URL: Type.String({ default: '' }),
  DASHBOARD_RUNBOOK_URL: Type.String({ default: '' }),
  /** How the tenant of a job is identified: by `key`, `tag`, `tag:` and a prefix, or `args.` and a path. */
  DASHBOARD_TENANT: Type.String({ default: '' }),
  /** The URL of a job's trace, with placeholders such as `{traceId}`. */
  DASHBOARD_TRACE_URL: Type.String({ default: '' }),
};

const variables = Type.Object(databaseVariables);

/**
 * Converts environment variables to the options of `PostgresStorage`.
 *
 * @param logger logs migrations that wait, see `PostgresOptions.logger`
 */
export function databaseOptions(config: Config<typeof variables>, applicationName: string, logger: Logger) {
  return { ...configuredOptions(config), logger, applicationName: `longshore ${applicationName}` };
}

/** Returns the options of `PostgresStorage` that are from variables. */
export function configuredOptions(config: Config<typeof variables>) {
  return {
    url: config.DATABASE_URL,
    schema: config.DATABASE_SCHEMA,
    pooler: config.DATABASE_POOLER,
    distribution: config.DATABASE_DISTRIBUTION,
    ...(config.DATABASE_DIRECT_URL !== undefined && { directUrl: config.DATABASE_DIRECT_URL }),
    ...(config.DATABASE_SEARCH_URL !== undefined && { searchUrl: config.DATABASE_SEARCH_URL }),
    searchMaxLagMs: config.DATABASE_SEARCH_MAX_LAG_MS,
    migrate: config.DATABASE_MIGRATE,
    start: config.LONGSHORE_START,
    poolSize: config.DATABASE_POOL_SIZE,
    maxQueues: config.DATABASE_MAX_QUEUES,
    readPoolSize: config.DATABASE_READ_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    silenceTimeoutMs: config.DATABASE_SILENCE_TIMEOUT_MS,
    readTimeoutMs: config.DATABASE_READ_TIMEOUT_MS,
    commandBatchMaxTimeoutMs: config.DATABASE_COMMAND_BATCH_MAX_TIMEOUT_MS,
    transactionIdleTimeoutMs: config.DATABASE_TRANSACTION_IDLE_TIMEOUT_MS,
    useRecommendedIsolationLevel: config.DATABASE_USE_RECOMMENDED_ISOLATION_LEVEL,
    disableGlobalLocks: config.DATABASE_DISABLE_GLOBAL_LOCKS,
    retentionDays: retentionDays(config),
  };
}

/** Returns how many days finished jobs are kept, by final state. */
export function retentionDays(
  config: Pick<
    Config<typeof variables>,
    'DATABASE_RETENTION_DONE_DAYS' | 'DATABASE_RETENTION_FAILED_DAYS' | 'DATABASE_RETENTION_CANCELLED_DAYS'
  >,
): RetentionDays {
  return {
    done: config.DATABASE_RETENTION_DONE_DAYS,
    failed: config.DATABASE_RETENTION_FAILED_DAYS,
    cancelled: config.DATABASE_RETENTION_CANCELLED_DAYS,
  };
}
