export { readWorkerConfig, type WorkerConfig } from './config.js';
export { startWorker } from './worker-service.js';
