import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseOptions } from '../connection/database-options.js';
import { sendHeartbeats } from './heartbeat-sender.js';

if (parentPort !== null) sendHeartbeats(workerData as DatabaseOptions, parentPort);
