import Type from 'typebox';
import { type Config, ConfigError, listOf } from './config.js';
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
    webhooks: urls.map((url) => ({
      url,
      secret: config.DASHBOARD_ALERT_SECRET || undefined,
      format: config.DASHBOARD_ALERT_FORMAT,
      allowsHttp: config.NODE_ENV !== 'production',
    })),
  };
}

/**
 * Calls `create`. Converts a TypeError about an option to a {@link ConfigError} that names the environment variable.
 */
export function withVariableNames<Created>(create: () => Created): Created {
  try {
    return create();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const message = error.message
      .replace('logUrl', 'DASHBOARD_LOG_URL')
      .replace('runbookUrl', 'DASHBOARD_RUNBOOK_URL')
      .replace('traceUrl', 'DASHBOARD_TRACE_URL')
      .replace(/^tenant must/, 'DASHBOARD_TENANT must')
      .replace(/^An alert URL|^The alert URL/, 'DASHBOARD_ALERT_URLS: $&')
      .replace(/^The URL of the dashboard/, 'DASHBOARD_BASE_URL: $&')
      .replace('The alert secret', 'DASHBOARD_ALERT_SECRET')
      .replace(/^The logo/, 'DASHBOARD_LOGO: $&')
      .replace(/^The accent colour|^Not a colour/, 'DASHBOARD_ACCENT: $&');
    throw new ConfigError(message);
  }
}
