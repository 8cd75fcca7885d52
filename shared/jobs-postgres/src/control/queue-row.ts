import type { Queue, Server, StateCounts } from '@longshore/jobs';
import type { QueueRow } from '../connection/queue-id-cache.js';

/** What is known of queues besides their rows, by their numbers. */
export interface QueueFacts {
  readonly counts: StateCounts;
  readonly oldestEnqueuedAt: Date | null;
  /** All that there are. */
  readonly servers: readonly Server[];
}

export function toQueue(row: QueueRow, { counts, oldestEnqueuedAt, servers }: QueueFacts): Queue {
  const { name } = row;
  return {
    name,
    pausedAt: row.paused_at,
    concurrencyLimit: row.concurrency_limit,
    rateLimit: row.rate_limit,
    counts,
    oldestEnqueuedAt,
    servers: servers.filter(({ state, queues }) => state === 'running' && queues.includes(name)).length,
    createdAt: row.created_at,
  };
}
