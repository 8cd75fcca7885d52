import {
  type Config,
  dashboardVariables,
  databaseVariables,
  type Environment,
  proxyVariables,
  readConfig,
  serviceVariables,
} from '@longshore/service';
import Type from 'typebox';

const variables = Type.Object({
  ...serviceVariables,
  ...databaseVariables,
  ...dashboardVariables,
  ...proxyVariables,
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8081 }),
});

export type DashboardConfig = Config<typeof variables>;

/** @throws {ConfigError} that lists every problem */
export function readDashboardConfig(environment: Environment): DashboardConfig {
  return readConfig(variables, environment);
}
