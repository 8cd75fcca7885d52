import type { Settings } from '../connection/settings.js';

/**
 * Session settings on the coordinator. They do not include planner settings such as permitted kinds of joins: these
 * would not reach the nodes, and the coordinator only joins results of nodes, whose size it knows. Statements can be
 * planned for the given values, because only these show Citus which node stores the queue.
 */
export const coordinatorPlans: Settings = { plan_cache_mode: 'auto', jit: 'off' };
