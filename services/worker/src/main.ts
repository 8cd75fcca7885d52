import { runService } from '@longshore/service';
import {
  findWorkerProblems,
  readWorkerConfig,
  startWorker,
  startWorkerOnce,
  workerVariables,
} from './worker-service.js';

process.exit(
  await runService({
    name: 'worker',
    environment: process.env,
    variables: workerVariables,
    readConfig: readWorkerConfig,
    findProblems: findWorkerProblems,
    start: startWorker,
    args: process.argv.slice(2),
    commands: { '--once': startWorkerOnce },
  }),
);
