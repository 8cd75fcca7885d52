import { availableParallelism } from 'node:os';
import Type from 'typebox';

/** Variables of every service. */
export const serviceVariables = {
  NODE_ENV: Type.String({ default: 'development' }),
  LOG_LEVEL: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'], { default: 'info' }),
  /** The address to listen on. Containers set 0.0.0.0. */
  HOST: Type.String({ default: '127.0.0.1' }),
  /** The maximum number of open connections. */
  HTTP_MAX_CONNECTIONS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 20_000 }),
  /** The same for each network address; behind a proxy that is the proxy's. */
  HTTP_MAX_CONNECTIONS_PER_ADDRESS: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  /** The module of the application: the name of a package, or a path that begins with a dot or a slash. */
  LONGSHORE_APP: Type.String({ default: '@longshore/example-shop' }),
};

const host = String.raw`[\w-]+(\.[\w-]+)*`;

/** Variables of a service whose numbers are all that it shows without credentials. */
export const metricsVariables = {
  /** Names by which `/metrics` may be asked for, besides `localhost` and addresses; comma-separated, without ports. */
  ALLOWED_HOSTS: Type.Optional(Type.String({ pattern: `^ *${host} *(, *${host} *)*$` })),
};

/** Variables of a service that uses the Postgres job storage. */
export const databaseVariables = {
  DATABASE_URL: Type.String({ pattern: '^postgres(ql)?://' }),
  /** `transaction`: DATABASE_URL is a pooler in transaction mode. */
  DATABASE_POOLER: Type.Enum(['none', 'transaction'], { default: 'none' }),
  /** Bypasses the pooler, for migrations. */
  DATABASE_DIRECT_URL: Type.Optional(Type.String({ pattern: '^postgres(ql)?://' })),
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 2, maximum: 500, default: 10 }),
  /** Reads have their own connections and a time limit. */
  DATABASE_READ_POOL_SIZE: Type.Integer({ minimum: 1, maximum: 500, default: 4 }),
  DATABASE_READ_TIMEOUT_MS: Type.Integer({ minimum: 100, maximum: 3_600_000, default: 5_000 }),
  MAX_QUEUES: Type.Integer({ minimum: 1, maximum: 1_000_000, default: 10_000 }),
  COMMAND_BATCH_MAX_TIMEOUT_MS: Type.Integer({ minimum: 1_000, maximum: 3_600_000, default: 300_000 }),
  /** How long a handler's transaction may be idle. */
  TRANSACTION_IDLE_TIMEOUT_MS: Type.Integer({ minimum: 1_000, maximum: 86_400_000, default: 300_000 }),
  USE_RECOMMENDED_ISOLATION_LEVEL: Type.Boolean({ default: true }),
  /** `false`: changes to the jobs of a queue are serialized. */
  DISABLE_GLOBAL_LOCKS: Type.Boolean({ default: true }),
  /** How long finished jobs are kept. */
  RETENTION_DONE_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 7 }),
  RETENTION_FAILED_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 30 }),
  RETENTION_CANCELLED_DAYS: Type.Integer({ minimum: 1, maximum: 3_650, default: 7 }),
};

/** Variables of a service that runs jobs. */
export const serverVariables = {
  WORKER_CONCURRENCY: Type.Integer({ minimum: 1, maximum: 1_000, default: 10 }),
  /** Comma-separated in order of priority, or with weights (`critical=6,default=3`); default: all queues of the application's jobs. */
  WORKER_QUEUES: Type.String({ default: '' }),
  SERVER_TIMEOUT_MS: Type.Integer({ minimum: 5_000, maximum: 3_600_000, default: 30_000 }),
  SLIDING_INVISIBILITY_TIMEOUT_MS: Type.Integer({ minimum: 1_000, maximum: 86_400_000, default: 300_000 }),
  QUEUE_POLL_INTERVAL_MS: Type.Integer({ minimum: 0, maximum: 60_000, default: 0 }),
  /** How long running jobs may continue after SIGTERM. */
  STOP_TIMEOUT_MS: Type.Integer({ minimum: 0, maximum: 3_600_000, default: 25_000 }),
  /** Threads for CPU-bound handlers. */
  WORKER_THREADS: Type.Integer({
    minimum: 1,
    maximum: 256,
    default: Math.max(1, availableParallelism() - 1),
  }),
  /** Limits for the log of an attempt. */
  JOB_LOG_MAX_LINES: Type.Integer({ minimum: 0, maximum: 100_000, default: 1_000 }),
  JOB_LOG_MAX_LINE_BYTES: Type.Integer({ minimum: 100, maximum: 65_536, default: 4_096 }),
  /** Where the job of `POST /test` and the jobs of the application write files. */
  RESULTS_DIR: Type.String({ default: '.data/results' }),
};

/** Variables of a service that may stand behind a proxy. */
export const proxyVariables = {
  /** How many proxies in front append to `X-Forwarded-For`. */
  TRUSTED_PROXIES: Type.Integer({ minimum: 0, maximum: 10, default: 0 }),
};

/** Variables of a service that shows the dashboard. */
export const dashboardVariables = {
  DASHBOARD_PATH: Type.String({ pattern: '^(/|(/[\\w~-][\\w.~-]*)+/?)$', default: '/job-dashboard' }),
  DASHBOARD_INSTANCE: Type.String({ maxLength: 40, default: '' }),
  DASHBOARD_PASSWORD: Type.String({ default: '' }),
};
