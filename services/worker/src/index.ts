export { readWorkerConfig, type WorkerConfig, workerVariables } from './config.js';
export { startWorker } from './worker-service.js';
