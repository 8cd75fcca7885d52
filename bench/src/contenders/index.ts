import { bullMqOnPostgres, bullMqOnRedis } from './bullmq.js';
import type { MakeContender } from './contender.js';
import { graphileWorker } from './graphile-worker.js';
import { longshore } from './longshore.js';
import { pgBoss } from './pg-boss.js';

export const contenders = {
  longshore,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBoss,
  'bullmq (postgres)': bullMqOnPostgres,
  'bullmq (redis)': bullMqOnRedis,
} as const satisfies Record<string, MakeContender>;

/** Whether a contender keeps its jobs in Redis rather than Postgres. */
export function isOnRedis(contender: ContenderName): boolean {
  return contender === 'bullmq (redis)';
}

/** How each peer is configured, and how its work differs from Longshore's. */
export const remarks: Readonly<Record<Exclude<ContenderName, 'longshore'>, string>> = {
  'graphile-worker':
    'deletes finished jobs and does not fence completions by attempt; best of several settings (local queue, batched completions)',
  'pg-boss':
    'keeps finished jobs; chunks of 5000, loops that fetch and complete 1000 jobs; for latency its own workers at their shortest interval',
  'bullmq (postgres)':
    'keeps finished jobs and an event for each change of state; best of concurrency 24 and 96',
  'bullmq (redis)':
    'keeps finished jobs in memory, and may lose the last second of writes (appendfsync everysec, as its manual advises)',
};

export type ContenderName = keyof typeof contenders;

/** All contenders, Longshore first. */
export const allContenders = Object.keys(contenders) as ContenderName[];
