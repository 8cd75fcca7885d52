import { runService } from '@longshore/service';
import { startApi } from './api-service.js';
import { type ApiConfig, apiVariables, readApiConfig } from './config.js';
import { createKey } from './create-key.js';
import { seedTables } from './seed.js';

/** The command from the first argument. If it is missing or unknown, the API starts. */
const [command = '', ...args] = process.argv.slice(2);
const commands = new Map([
  ['seed', seedTables],
  ['create-key', (config: ApiConfig) => createKey(config, args)],
]);
const start = commands.get(command) ?? startApi;

process.exit(
  await runService({
    name: 'api',
    environment: process.env,
    variables: apiVariables,
    readConfig: readApiConfig,
    start,
  }),
);
