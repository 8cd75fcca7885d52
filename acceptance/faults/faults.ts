import * as clocks from './clock-faults.js';
import * as database from './database-faults.js';
import * as outages from './outage-faults.js';
import * as processes from './process-faults.js';
import type { Fault } from './stage.js';

/** Faults of Postgres and its connections, caused one at a time. */
export const databaseFaults: Readonly<Record<string, Fault>> = {
  'postgres-killed': database.postgresKilled,
  'backend-killed': database.backendKilled,
  'connections-cut': database.connectionsCut,
  'listen-cut': database.listenCut,
  'pools-exhausted': database.poolsExhausted,
  'network-silent': outages.networkSilent,
  'proxy-frozen': outages.proxyFrozen,
  'postgres-stopped': outages.postgresStopped,
  'read-only': outages.readOnly,
  'connections-exhausted': outages.connectionsExhausted,
  'disk-full': outages.diskFull,
};

/** Faults of the services' processes. Several can be active at once. */
export const processFaults: Readonly<Record<string, Fault>> = {
  'worker-killed': processes.workerKilled,
  'workers-killed': processes.workersKilled,
  'worker-stopped': processes.workerStopped,
  'worker-frozen': processes.workerFrozen,
  'clock-hour': clocks.clockHour,
  'clock-days': clocks.clockDays,
  'clock-year': clocks.clockYear,
  'clocks-apart': clocks.clocksApart,
  'clock-wrong-at-start': clocks.startedWrong,
};

export const faults: Readonly<Record<string, Fault>> = { ...databaseFaults, ...processFaults };
