import { absurd, absurdSql } from './absurd.js';
import { bullMqOnPostgres, bullMqOnRedis } from './bullmq.js';
import type { MakeContender } from './contender.js';
import { dbos } from './dbos.js';
import { graphileWorker } from './graphile-worker.js';
import { longshore } from './longshore.js';
import { pgBoss } from './pg-boss.js';

export const contenders = {
  longshore,
  'graphile-worker': graphileWorker,
  'pg-boss': pgBoss,
  'bullmq (postgres)': bullMqOnPostgres,
  'bullmq (redis)': bullMqOnRedis,
  dbos,
  absurd,
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
  dbos: 'keeps finished workflows and their steps; identifies steps by their position; best of several settings (worker concurrency, pool, polling every 10 ms)',
  absurd: 'keeps finished tasks, their runs and steps; best of several settings (concurrency, pool)',
};

export type ContenderName = keyof typeof contenders;

/** Contenders with durable steps, Longshore first. */
export const stepContenders: readonly ContenderName[] = ['longshore', 'dbos', 'absurd'];

/** Contenders whose jobs are single functions, Longshore first. */
export const jobContenders = (Object.keys(contenders) as ContenderName[]).filter(
  (name) => name === 'longshore' || !stepContenders.includes(name),
);

/**
 * Returns the contenders that can take part in a run: those whose packages are installed and that have what they need
 * on this machine, Redis or their SQL.
 *
 * @param all whether the packages that a smoke run does not need are installed
 */
export function available({ all, hasRedis }: { all: boolean; hasRedis: boolean }): ContenderName[] {
  return (Object.keys(contenders) as ContenderName[]).filter((name) => {
    if (isOnRedis(name)) return all && hasRedis;
    if (name === 'absurd') return all && absurdSql() !== undefined;
    return all || !(name === 'dbos' || name.startsWith('bullmq'));
  });
}
