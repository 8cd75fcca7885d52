import { createCitusDatabase } from '@longshore/test-support';
import type { Postgres } from '../test/system/postgres.js';
import type { Observer } from './observer.js';

/** Faults that need a Postgres that this suite has started. */
const ownPostgresFaults: ReadonlySet<string> = new Set([
  'postgres-killed',
  'postgres-stopped',
  'read-only',
  'disk-full',
]);

/**
 * Returns the subset of `faults` that can be caused on the Citus cluster at `url`. Backends can be killed only if the
 * cluster runs on this machine.
 */
export function clusterFaults(url: string, faults: readonly string[]): string[] {
  const isHere = /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname);
  return faults.filter((fault) => !ownPostgresFaults.has(fault) && (isHere || fault !== 'backend-killed'));
}

/**
 * Creates a database on the Citus cluster at `CITUS_URL`. `stop`, `kill`, `start`, `freeze` and `thaw` reject,
 * because this suite does not control the cluster. `remove` drops the database.
 */
export async function startCluster(): Promise<Postgres> {
  const database = await createCitusDatabase();
  const impossible = (): Promise<never> =>
    Promise.reject(new Error('The cluster is not started by this suite'));
  return {
    url: database.url,
    stop: impossible,
    kill: impossible,
    start: impossible,
    freeze: impossible,
    thaw: impossible,
    disk: null,
    hasEnded: () => false,
    isRecovering: async () => false,
    lastLines: () => [],
    remove: () => database.drop(),
  };
}

/** Schema that {@link copyTables} creates for the copies. */
export const copies = 'judged';

/**
 * Copies Longshore's tables and views into plain tables on the coordinator. Plain tables support every query;
 * distributed tables do not.
 */
export async function copyTables(observer: Observer): Promise<void> {
  const tables = await observer.query<{ name: string }>(
    `select relname as name from pg_catalog.pg_class
     where relnamespace = 'longshore'::regnamespace and relkind in ('r', 'p', 'v')`,
  );
  await observer.query(`create schema ${copies}`);
  for (const { name } of tables)
    await observer.query(`create table ${copies}.${name} as select * from longshore.${name}`);
}
