import { runService } from '@longshore/service';
import { startApi } from './api-service.js';
import { readApiConfig } from './config.js';

process.exit(
  await runService({ name: 'api', environment: process.env, readConfig: readApiConfig, start: startApi }),
);
