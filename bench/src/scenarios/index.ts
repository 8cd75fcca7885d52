import type { Scenario } from '../bench.js';
import { asleep } from './asleep.js';
import { bulkEnqueue } from './bulk-enqueue.js';
import { dashboard } from './dashboard.js';
import { drain } from './drain.js';
import { drainProcesses } from './drain-processes.js';
import { dueAtOnce } from './due-at-once.js';
import { footprint } from './footprint.js';
import { idleFleet } from './idle-fleet.js';
import { listEndpoints } from './lists.js';
import { manyQueues } from './many-queues.js';
import { memory } from './memory.js';
import { payload } from './payload.js';
import { recurringDefinitions } from './recurring-definitions.js';
import { drainFullStore } from './drain-full-store.js';
import { drainPinned } from './drain-pinned.js';
import { http } from './http.js';
import { largeRequests } from './large-requests.js';
import { latency } from './latency.js';
import { listeners } from './listeners.js';
import { pinnedPromises } from './pinned-promises.js';
import { singleEnqueue } from './single-enqueue.js';
import { resume } from './resume.js';
import { steps } from './steps.js';
import { wakeUps } from './wake-ups.js';

export const scenarios: readonly Scenario[] = [
  bulkEnqueue,
  drain,
  drainProcesses,
  payload,
  drainFullStore,
  drainPinned,
  pinnedPromises,
  latency,
  singleEnqueue,
  steps,
  asleep,
  resume,
  footprint,
  manyQueues,
  dueAtOnce,
  recurringDefinitions,
  idleFleet,
  wakeUps,
  memory,
  http,
  largeRequests,
  listeners,
  listEndpoints,
  dashboard,
];
