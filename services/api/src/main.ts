import { runService } from '@longshore/service';
import { startApi } from './api-service.js';
import { readApiConfig } from './config.js';
import { seedTables } from './seed.js';

const start = process.argv[2] === 'seed' ? seedTables : startApi;

process.exit(await runService({ name: 'api', environment: process.env, readConfig: readApiConfig, start }));
