import Type from 'typebox';
import { type Config, ConfigError, listOf } from './config.js';
import { type DashboardAccess, dashboardAccess } from './dashboard-access.js';
import { refusals } from './refusals.js';
import { dashboardVariables, serviceVariables } from './variables.js';

const variables = Type.Object({ ...dashboardVariables, NODE_ENV: serviceVariables.NODE_ENV });
type DashboardConfig = Config<typeof variables>;

/** The dashboard options that do not concern access. */
export interface DashboardSettings {
  readonly path: string;
  readonly baseUrl: string | undefined;
  readonly instance: string;
  readonly logo: string | undefined;
  readonly accent: string | undefined;
  readonly production: boolean;
  readonly requireReasons: boolean;
  readonly readTimeoutMs: number;
  readonly logUrl: string;
  readonly tenant: string;
  readonly runbookUrl: string;
  readonly traceUrl: string;
}

export function dashboardSettings(config: DashboardConfig): DashboardSettings {
  return {
    path: config.DASHBOARD_PATH,
    baseUrl: config.DASHBOARD_BASE_URL || undefined,
    instance: config.DASHBOARD_INSTANCE,
    logo: config.DASHBOARD_LOGO || undefined,
    accent: config.DASHBOARD_ACCENT || undefined,
    production: config.NODE_ENV === 'production',
    requireReasons: config.DASHBOARD_REQUIRE_REASONS,
    readTimeoutMs: config.DASHBOARD_READ_TIMEOUT_MS,
    logUrl: config.DASHBOARD_LOG_URL,
    tenant: config.DASHBOARD_TENANT,
    runbookUrl: config.DASHBOARD_RUNBOOK_URL,
    traceUrl: config.DASHBOARD_TRACE_URL,
  };
}

/** Options for alert webhooks. */
export interface AlertSettings {
  readonly instance: string;
  readonly baseUrl: string | null;
  readonly webhooks: readonly {
    readonly url: string;
    /** The name in front of the URL; absent without one. */
    readonly name?: string;
    readonly secret: string | undefined;
    readonly format: 'standard' | 'slack';
    readonly allowsHttp: boolean;
  }[];
}

/** Converts the configuration to options for alert webhooks, of which there can be none. */
export function alertSettings(config: DashboardConfig): AlertSettings {
  const urls = listOf(config.DASHBOARD_ALERT_URLS, 'DASHBOARD_ALERT_URLS');
  return {
    instance: config.DASHBOARD_INSTANCE,
    baseUrl: config.DASHBOARD_BASE_URL || null,
    webhooks: urls.map((entry) => ({
      ...namedUrl(entry),
      secret: config.DASHBOARD_ALERT_SECRET || undefined,
      format: config.DASHBOARD_ALERT_FORMAT,
      allowsHttp: config.NODE_ENV !== 'production',
    })),
  };
}

/** Splits `team=https://…` into the name and the URL. */
function namedUrl(entry: string): { readonly url: string; readonly name?: string } {
  const [, name, url] = /^(\w[\w.-]{0,99})=(https?:.*)$/i.exec(entry) ?? [];
  return name === undefined || url === undefined ? { url: entry } : { name, url };
}

/** Creates what has the dashboard's settings, from a part of them. */
interface DashboardConstructors {
  readonly dashboard: (options: Partial<DashboardSettings & DashboardAccess>) => unknown;
  readonly alerts: (options: AlertSettings) => unknown;
}

/** Returns what the dashboard and its alerts refuse of their settings, see {@link refusals}. */
export function dashboardProblems(config: DashboardConfig, create: DashboardConstructors): string[] {
  const webhooks = { urls: config.DASHBOARD_ALERT_URLS, secret: config.DASHBOARD_ALERT_SECRET };
  return [
    ...refusals({ ...dashboardSettings(config), ...accessOf(config) }, dashboardOptions, create.dashboard),
    ...(webhooks.urls === ''
      ? []
      : refusals(webhooks, alertOptions, ({ urls = 'https://example.com', secret = '' }) =>
          create.alerts(
            alertSettings({ ...config, DASHBOARD_ALERT_URLS: urls, DASHBOARD_ALERT_SECRET: secret }),
          ),
        )),
  ];
}

/** Returns how people sign in; nothing if that has problems, which reading the configuration reports. */
function accessOf(config: DashboardConfig): DashboardAccess {
  try {
    return dashboardAccess(config);
  } catch (error) {
    if (error instanceof ConfigError) return {};
    throw error;
  }
}

const dashboardOptions: Readonly<Record<keyof (DashboardSettings & DashboardAccess), string>> = {
  path: 'DASHBOARD_PATH',
  baseUrl: 'DASHBOARD_BASE_URL',
  instance: 'DASHBOARD_INSTANCE',
  logo: 'DASHBOARD_LOGO',
  accent: 'DASHBOARD_ACCENT',
  production: 'NODE_ENV',
  requireReasons: 'DASHBOARD_REQUIRE_REASONS',
  readTimeoutMs: 'DASHBOARD_READ_TIMEOUT_MS',
  logUrl: 'DASHBOARD_LOG_URL',
  tenant: 'DASHBOARD_TENANT',
  runbookUrl: 'DASHBOARD_RUNBOOK_URL',
  traceUrl: 'DASHBOARD_TRACE_URL',
  password: 'DASHBOARD_PASSWORD',
  users: 'DASHBOARD_USERS',
  openId: 'DASHBOARD_OIDC_ISSUER',
  proxyHeaders: 'DASHBOARD_PROXY_ADDRESSES',
  secret: 'DASHBOARD_SECRET',
};

const alertOptions = { urls: 'DASHBOARD_ALERT_URLS', secret: 'DASHBOARD_ALERT_SECRET' } as const;
