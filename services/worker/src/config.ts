import {
  applicationVariables,
  type Config,
  databaseVariables,
  type Environment,
  metricsVariables,
  readConfig,
  serverVariables,
  serviceVariables,
} from '@longshore/service';
import Type from 'typebox';

const variables = Type.Object({
  ...serviceVariables,
  ...applicationVariables,
  ...metricsVariables,
  ...databaseVariables,
  ...serverVariables,
  /** The port of the health and metrics routes, the only routes of a worker. */
  PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8082 }),
});

export type WorkerConfig = Config<typeof variables>;

/** The names of the environment variables that the worker service reads. */
export const workerVariables = Object.keys(variables.properties);

/**
 * Reads the configuration of a worker from the environment.
 *
 * @throws {ConfigError} if a variable is invalid; the message lists every problem
 */
export function readWorkerConfig(environment: Environment): WorkerConfig {
  return readConfig(variables, environment);
}
