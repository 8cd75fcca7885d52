import { runService } from '@longshore/service';
import { startApi } from './api-service.js';
import { readApiConfig } from './config.js';
import { createKey } from './create-key.js';
import { seedTables } from './seed.js';

/** What the process does, by its first argument. */
const commands = new Map([
  ['seed', seedTables],
  ['create-key', createKey],
]);
const start = commands.get(process.argv[2] ?? '') ?? startApi;

process.exit(await runService({ name: 'api', environment: process.env, readConfig: readApiConfig, start }));
