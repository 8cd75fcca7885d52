import {
  type AlertOptions,
  AlertSender,
  createDashboard,
  setSecurityHeaders,
} from '@longshore/jobs-dashboard';
import {
  AccessLog,
  alertSettings,
  type Config,
  createServiceApp,
  dashboardAccess,
  dashboardSettings,
  dashboardVariables,
  dashboardProblems,
  databaseOptions,
  databaseProblems,
  databaseVariables,
  drain,
  type Environment,
  listen,
  type Logger,
  measurePools,
  measureRequests,
  metricsGuard,
  metricsVariables,
  observeRequests,
  type OnRelease,
  OutageWatch,
  processMetrics,
  problemsOf,
  proxyVariables,
  readConfig,
  type RunningService,
  serviceVariables,
  startService,
  startTracing,
  storageHealth,
  whenAvailable,
  validValues,
} from '@longshore/service';
import { MemoryStorage } from '@longshore/jobs';
import { PostgresStorage } from 'longshore';
import Type from 'typebox';

/**
 * Starts the dashboard service. It listens at once; the promise resolves when the storage is open.
 *
 * @throws if it cannot start, or the reason of the signal if it aborts first; everything has been released then
 */
export function startDashboard(
  config: DashboardConfig,
  logger: Logger,
  signal: AbortSignal,
): Promise<RunningService> {
  return startService(logger, signal, (onRelease) => start(config, logger, signal, onRelease));
}

async function start(
  config: DashboardConfig,
  logger: Logger,
  signal: AbortSignal,
  onRelease: OnRelease,
): Promise<undefined> {
  const tracing = await startTracing(config, 'dashboard', logger, onRelease);
  const access = dashboardAccess(config);
  const storage = new PostgresStorage(databaseOptions(config, 'dashboard', logger));
  onRelease(() => storage.close());
  const metrics = processMetrics('dashboard');
  measurePools(metrics, () => storage.pools());
  const health = storageHealth(metrics, storage);
  const outages = new OutageWatch(() => storage.ping(), logger);
  const app = createServiceApp(config, logger);
  const accessLog = new AccessLog(logger, config.HTTP_ACCESS_LOG_PER_SECOND);
  app.use(observeRequests([measureRequests(metrics), accessLog.add], tracing.startRequest));
  app.use(outages.middleware);
  const alerts = alertSender(config, storage, logger, outages);
  const closing = new AbortController();
  app.use((context, next) => {
    setSecurityHeaders(context);
    return next();
  });
  app.use(metricsGuard(config.HTTP_ALLOWED_HOSTS));
  app.use(health.routes.routes());
  app.use(
    createDashboard({
      storage,
      control: storage,
      closing: closing.signal,
      onAction: (action) => logger.info({ ...action }, 'dashboard action'),
      onAccess: (record) => logger.info({ ...record }, 'dashboard access'),
      ...dashboardSettings(config),
      ...access,
    }),
  );
  app.use((context) => {
    if (context.path !== '/') return;
    // The redirect must be relative, because a gateway can strip a path prefix.
    context.status = 302;
    context.set('Location', `.${config.DASHBOARD_PATH}`);
  });
  if (Object.keys(access).every((name) => name === 'secret') && config.NODE_ENV !== 'production')
    logger.warn({}, 'No way to sign in is configured: everyone on this machine is an admin of the dashboard');
  const listener = await listen(app, config, logger);
  onRelease(async () => {
    const closed = listener.close(); // first, so that browsers do not open another stream here
    closing.abort();
    outages.stop();
    try {
      await alerts.stop();
    } finally {
      await closed;
    }
  });
  await whenAvailable(() => health.starts(storage.open()), logger, signal);
  health.opened();
  onRelease(() => drain(health, config));
  alerts.start();
  logger.info({}, 'ready');
}

function alertSender(
  config: DashboardConfig,
  storage: PostgresStorage,
  logger: Logger,
  outages: OutageWatch,
): AlertSender {
  const onError: AlertOptions['onError'] = (error, target) => {
    if (!outages.covers(error))
      logger.warn({ err: error, target }, 'warnings not checked, or alert not sent');
  };
  return new AlertSender({ ...alertSettings(config), storage, onError });
}

const variables = Type.Object({
  ...serviceVariables,
  ...metricsVariables,
  ...databaseVariables,
  ...dashboardVariables,
  ...proxyVariables,
  /** Size of the pool for writes. The dashboard writes little; pages use the read pool. */
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 2, maximum: 500, default: 2 }),
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8081 }),
});

export type DashboardConfig = Config<typeof variables>;

/** The environment variables of the dashboard service. */
export { variables as dashboardServiceVariables };

/**
 * Reads the configuration of the dashboard from the environment.
 *
 * @throws {ConfigError} if a variable is invalid; the message lists every problem
 */
export function readDashboardConfig(environment: Environment): DashboardConfig {
  return readConfig(variables, environment, [
    (config) => problemsOf(() => dashboardAccess(config)),
    (config) => problemsOf(() => alertSettings(config)),
  ]);
}

/** Returns what the dashboard would find wrong when it starts, besides what {@link readDashboardConfig} reports. */
export async function findDashboardProblems(environment: Environment): Promise<readonly string[]> {
  const config = validValues(variables, environment);
  const storage = new MemoryStorage();
  return [
    ...databaseProblems(config, (options) => void new PostgresStorage(options).close()),
    ...dashboardProblems(config, {
      dashboard: (options) => createDashboard({ storage, ...options }),
      alerts: (options) => new AlertSender({ storage, ...options }),
    }),
  ];
}
