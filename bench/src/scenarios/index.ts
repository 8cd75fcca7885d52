import type { Scenario } from '../bench.js';
import { bulkEnqueue } from './bulk-enqueue.js';
import { dashboard } from './dashboard.js';
import { drain } from './drain.js';
import { drainFullStore } from './drain-full-store.js';
import { drainPinned } from './drain-pinned.js';
import { http } from './http.js';
import { latency } from './latency.js';
import { listeners } from './listeners.js';
import { pinnedPromises } from './pinned-promises.js';
import { singleEnqueue } from './single-enqueue.js';

export const scenarios: readonly Scenario[] = [
  bulkEnqueue,
  drain,
  drainFullStore,
  drainPinned,
  pinnedPromises,
  latency,
  singleEnqueue,
  http,
  listeners,
  dashboard,
];
