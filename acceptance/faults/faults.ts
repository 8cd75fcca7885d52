import * as database from './database-faults.js';
import * as processes from './process-faults.js';
import type { Fault } from './stage.js';

/** Every fault, by its name. */
export const faults: Readonly<Record<string, Fault>> = {
  'worker-killed': processes.workerKilled,
  'workers-killed': processes.workersKilled,
  'worker-stopped': processes.workerStopped,
  'worker-frozen': processes.workerFrozen,
  'clock-ahead': processes.clockAhead,
  'postgres-killed': database.postgresKilled,
  'backend-killed': database.backendKilled,
  'connections-cut': database.connectionsCut,
  'listen-cut': database.listenCut,
  'connections-taken': database.connectionsTaken,
  'pools-exhausted': database.poolsExhausted,
};
