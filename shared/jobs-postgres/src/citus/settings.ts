import type { Settings } from '../connection/settings.js';

/**
 * Settings of sessions on the coordinator. Planner settings are not passed on to the nodes. The coordinator joins the results of
 * nodes, whose size it knows, so it may use any join. Plans are made for the given values, because only those show Citus the
 * node of the queue.
 */
export const coordinatorPlans: Settings = { plan_cache_mode: 'auto', jit: 'off' };
