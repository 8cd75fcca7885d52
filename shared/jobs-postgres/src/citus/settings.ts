import type { Settings } from '../connection/settings.js';

/**
 * Session settings on the coordinator. They do not include planner settings such as permitted kinds of joins: these
 * would not reach the nodes, and the coordinator only joins results of nodes, whose size it knows. Statements can be
 * planned for the given values, because only these show Citus which node stores the queue.
 */
export const coordinatorPlans: Settings = { plan_cache_mode: 'auto', jit: 'off' };

/**
 * Returns statements that limit how long a transaction waits for a lock, on the coordinator and on the nodes. Citus
 * passes on only what `set local` sets, not what `set_config` sets.
 */
export function lockTimeoutOnNodes(timeoutMs: string): string {
  return `set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${timeoutMs}`;
}
