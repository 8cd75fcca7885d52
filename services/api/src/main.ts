import { type Logger, runService } from '@longshore/service';
import { findApiProblems } from './api-problems.js';
import { startApi } from './api-service.js';
import { createKey, migrateAll, seedTables } from './commands.js';
import { type ApiConfig, apiVariables, readApiConfig } from './config.js';

const args = process.argv.slice(2);

process.exit(
  await runService({
    name: 'api',
    environment: process.env,
    variables: apiVariables,
    readConfig: readApiConfig,
    findProblems: findApiProblems,
    start: startApi,
    args,
    commands: {
      migrate: migrateAll,
      seed: seedTables,
      'create-key': (config: ApiConfig, logger: Logger) => createKey(config, args.slice(1), logger),
    },
  }),
);
