import type pg from 'pg';
import { eventually } from './eventually.js';
import { lockWaits, runOn, type TestDatabase } from './test-database.js';

/** A row of `pg_dist_node`. */
interface Node {
  readonly nodename: string;
  readonly nodeport: number;
  readonly groupid: number;
}

let created = 0;

/**
 * Creates an empty database on every active node of the Citus cluster at `CITUS_URL`, the coordinator's URL. Connects
 * to the other nodes at the addresses in `pg_dist_node`, with the user and password of `CITUS_URL`.
 */
export async function createCitusDatabase(): Promise<TestDatabase> {
  const coordinator = citusUrl();
  const nodes = await runOn(coordinator, async (client) => {
    const { rows } = await client.query<Node>(
      'select nodename, nodeport, groupid from pg_dist_node where isactive order by groupid',
    );
    return rows;
  });
  created += 1;
  const name = `longshore_citus_${process.pid}_${created}`;
  const urls = nodes.map(({ nodename, nodeport, groupid }) => {
    if (groupid === 0) return coordinator;
    const url = new URL(coordinator);
    url.hostname = nodename;
    url.port = String(nodeport);
    return url.href;
  });
  for (const url of urls) {
    await runOn(url, (client) => client.query(`create database ${name}`));
    await runOn(inDatabase(url, name), (client) => client.query('create extension citus'));
  }
  const url = inDatabase(coordinator, name);
  await runOn(url, async (client) => {
    for (const { nodename, nodeport, groupid } of nodes)
      await client.query(
        groupid === 0 ? 'select citus_set_coordinator_host($1, $2)' : 'select citus_add_node($1, $2)',
        [nodename, nodeport],
      );
  });
  const query = <Row extends pg.QueryResultRow>(
    sql: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> => runOn(url, async (client) => (await client.query<Row>(sql, [...values])).rows);
  const waitingForLocks = (): Promise<number> => lockWaits(url);
  const disconnected = async (application: string): Promise<void> => {
    await eventually(async () => (await connectionsOf(coordinator, name, application)) === 0);
  };
  const drop = async (): Promise<void> => {
    for (const node of urls)
      await runOn(node, (client) => client.query(`drop database if exists ${name} with (force)`));
  };
  return { name, url, query, waitingForLocks, disconnected, drop };
}

/**
 * Returns the coordinator's URL from `CITUS_URL`.
 *
 * @throws {Error} if `CITUS_URL` is not set
 */
export function citusUrl(): string {
  const url = process.env['CITUS_URL'];
  if (url === undefined)
    throw new Error('CITUS_URL is not set: give the URL of the coordinator of a Citus cluster');
  return url;
}

async function connectionsOf(url: string, database: string, application: string): Promise<number> {
  return runOn(url, async (client) => {
    const { rowCount } = await client.query(
      `select from pg_stat_activity
       where datname = $1 and backend_type = 'client backend' and starts_with(application_name, $2)`,
      [database, application],
    );
    return rowCount ?? 0;
  });
}

function inDatabase(url: string, name: string): string {
  const own = new URL(url);
  own.pathname = `/${name}`;
  return own.href;
}
