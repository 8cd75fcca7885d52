import { JobServer, MemoryStorage } from '@longshore/jobs';
import {
  applicationProblems,
  databaseProblems,
  type Environment,
  queueProblems,
  validValues,
} from '@longshore/service';
import { PostgresStorage } from 'longshore';
import { apiVariables, showsDashboard } from './config.js';

/** Returns what the API would find wrong when it starts, besides what reading its configuration reports. */
export async function findApiProblems(environment: Environment): Promise<readonly string[]> {
  const config = validValues(apiVariables, environment);
  const dashboard = showsDashboard(config) ? await import('./embedded-dashboard.js') : null;
  return [
    ...applicationProblems(config),
    ...(config.API_STORAGE === 'memory'
      ? []
      : databaseProblems(config, (options) => void new PostgresStorage(options).close())),
    ...queueProblems(
      config,
      (queues) => new JobServer({ storage: new MemoryStorage(), handlers: [], ...queues }),
    ),
    ...(dashboard?.embeddedDashboardProblems(config) ?? []),
  ];
}
