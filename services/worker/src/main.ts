import { runService } from '@longshore/service';
import { startWorker } from './worker-service.js';
import { readWorkerConfig, workerVariables } from './config.js';

process.exit(
  await runService({
    name: 'worker',
    environment: process.env,
    variables: workerVariables,
    readConfig: readWorkerConfig,
    start: startWorker,
    args: process.argv.slice(2),
  }),
);
