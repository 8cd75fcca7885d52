import type { Settings } from './session.js';

/**
 * Session settings on the coordinator. Unlike `indexPlans`, they do not restrict the kinds of joins, because such
 * settings would not reach the nodes. The plan cache mode lets Postgres plan a statement for its parameter values. Only
 * these values show Citus which node stores the queue.
 */
export const coordinatorPlans: Settings = { plan_cache_mode: 'auto', jit: 'off' };

/**
 * Returns statements that limit how long a transaction waits for a lock, on the coordinator and on the nodes. Citus
 * propagates `set local` to the nodes, but not `set_config`.
 */
export function lockTimeoutOnNodes(timeoutMs: string): string {
  return `set local citus.propagate_set_commands = 'local'; set local lock_timeout = ${timeoutMs}`;
}
