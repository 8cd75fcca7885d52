import { runService } from '@longshore/service';
import { startWorker } from './worker-service.js';
import { readWorkerConfig } from './config.js';

process.exit(
  await runService({
    name: 'worker',
    environment: process.env,
    readConfig: readWorkerConfig,
    start: startWorker,
  }),
);
