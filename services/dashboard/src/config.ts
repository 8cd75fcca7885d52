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
  /** Pages use the separate connections for reads; only operators' actions write. */
  DATABASE_POOL_SIZE: Type.Integer({ minimum: 2, maximum: 500, default: 2 }),
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8081 }),
});

export type DashboardConfig = Config<typeof variables>;

/** @throws {ConfigError} listing every problem */
export function readDashboardConfig(environment: Environment): DashboardConfig {
  return readConfig(variables, environment);
}
