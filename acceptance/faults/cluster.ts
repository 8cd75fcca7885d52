import { createCitusDatabase } from '@longshore/test-support';
import type { Postgres } from '../test/system/postgres.js';
import type { Observer } from './observer.js';

/** Faults that are impossible on a cluster on other machines. */
const localOnlyFaults: ReadonlySet<string> = new Set(['postgres-killed', 'backend-killed']);

/**
 * Returns the faults that are possible on a Citus cluster: backends can be killed only if the cluster is on this
 * machine, and Postgres itself cannot be killed.
 */
export function clusterFaults(url: string, faults: readonly string[]): string[] {
  const isHere = /^(localhost|127\.|\[::1\])/.test(new URL(url).hostname);
  return faults.filter((fault) => (isHere ? fault !== 'postgres-killed' : !localOnlyFaults.has(fault)));
}

/** Creates a database on the Citus cluster at `CITUS_URL`, for runs that do not start their own Postgres. */
export async function startCluster(): Promise<Postgres> {
  const database = await createCitusDatabase();
  const impossible = (): Promise<never> =>
    Promise.reject(new Error('The cluster is not started by this suite'));
  return {
    url: database.url,
    stop: impossible,
    kill: impossible,
    start: impossible,
    remove: () => database.drop(),
  };
}

/** The schema of the copies that {@link copyTables} makes. */
export const copies = 'judged';

/** Copies the tables of all nodes to the coordinator, where any query can read them. */
export async function copyTables(observer: Observer): Promise<void> {
  const tables = await observer.query<{ name: string }>(
    `select relname as name from pg_catalog.pg_class
     where relnamespace = 'longshore'::regnamespace and relkind in ('r', 'p', 'v')`,
  );
  await observer.query(`create schema ${copies}`);
  for (const { name } of tables)
    await observer.query(`create table ${copies}.${name} as select * from longshore.${name}`);
}
