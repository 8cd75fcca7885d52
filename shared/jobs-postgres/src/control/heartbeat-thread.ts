import { parentPort, workerData } from 'node:worker_threads';
import type { HeartbeatData } from './heartbeat-loop.js';
import { runHeartbeat } from './heartbeat-loop.js';

if (parentPort !== null) runHeartbeat(workerData as HeartbeatData, parentPort);
