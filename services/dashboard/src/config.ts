import {
  type Config,
  dashboardVariables,
  databaseVariables,
  type Environment,
  metricsVariables,
  proxyVariables,
  readConfig,
  serviceVariables,
} from '@longshore/service';
import Type from 'typebox';

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

/** The names of the environment variables that the dashboard service reads. */
export const dashboardServiceVariables = Object.keys(variables.properties);

/**
 * Reads the configuration of the dashboard from the environment.
 *
 * @throws {ConfigError} if a variable is invalid; the message lists every problem
 */
export function readDashboardConfig(environment: Environment): DashboardConfig {
  return readConfig(variables, environment);
}
