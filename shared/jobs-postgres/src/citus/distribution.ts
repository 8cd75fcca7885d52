import { createHash } from 'node:crypto';
import { StorageUnavailableError } from '@longshore/jobs';
import pg from 'pg';
import { schemaOf } from '../connection/database.js';
import type { DatabaseOptions } from '../connection/database-options.js';
import { WatchedClient, watchedConfig } from '../connection/watched-client.js';
import { fromDriver, translate } from '../connection/errors.js';
import type { MigrationMode } from '../connection/migrate.js';
import { meaning } from '../connection/session.js';
import {
  deleteLocalRows,
  distributeTables,
  lockDistribution,
  noteFunctions,
  readDistribution,
  readFunctions,
  selectLocalRows,
} from './distribution.sql.js';
import { citusFunctions } from './functions.sql.js';
import { tuneShards } from '../maintain/shards.sql.js';

/** Whether Citus has distributed the store, and whether Citus is installed in the database. */
interface Found {
  readonly distributed: boolean;
  readonly installed: boolean;
}

/** Runs SQL in the store's schema. The SQL is written for the default schema. */
type RunSql = <Row extends pg.QueryResultRow>(sql: string) => Promise<readonly Row[]>;

/**
 * Distributes the tables of a migrated store over the nodes of a Citus cluster, installs or updates the Citus
 * functions, and tunes the shards. In the mode `verify`, only requires that this has been done. If `distribution` is
 * `none`, only checks that the store is not distributed. Many
 * processes can call this at once; only one at a time distributes the store.
 *
 * @throws {Error} if the option is `none` but the store is distributed, or if the option is `citus` but Citus is not
 *   installed in the database
 * @throws {StorageUnavailableError} if the database cannot be reached, or if something is left to do in the mode `verify`
 */
export async function distribute(options: DatabaseOptions, mode: MigrationMode): Promise<void> {
  const schema = schemaOf(options);
  // No statement timeout, because distributing an existing store copies all rows.
  const config = watchedConfig(
    {
      ...options,
      connection: options.direct,
      pooler: 'none',
      statementTimeoutMs: 0,
    },
    meaning,
  );
  const client = new WatchedClient(config);
  client.on('error', () => undefined); // ignored, because the next statement fails and reports the error
  try {
    await fromDriver(client.connect());
    const run: RunSql = async <Row extends pg.QueryResultRow>(sql: string) =>
      (await fromDriver(client.query<Row>(schema.render(sql)))).rows;
    const [found] = await run<Found>(readDistribution);
    check(found, options);
    if (options.distribution === 'none') return;
    if (mode === 'verify') return await requireDistributed(run, found);
    await run(lockDistribution);
    await distributeOnce(run);
  } catch (error) {
    throw translate(error);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Thrown if the option `distribution` contradicts the state of the store or the database. */
class DistributionError extends Error {
  override readonly name = 'DistributionError';
}

function check(found: Found | undefined, { distribution, schema }: DatabaseOptions): void {
  if (distribution === 'none' && found?.distributed === true)
    throw new DistributionError(
      `Citus has distributed the store in the schema "${schema}": set DATABASE_DISTRIBUTION=citus (distribution: 'citus')`,
    );
  if (distribution === 'citus' && found?.installed !== true)
    throw new DistributionError(
      'Citus is not installed in this database: run "create extension citus" there and on every worker node, and add the nodes with citus_add_node; or leave DATABASE_DISTRIBUTION (distribution) unset',
    );
}

async function distributeOnce(run: RunSql): Promise<void> {
  const [found] = await run<Found>(readDistribution);
  if (found?.distributed !== true) await together(run, distributeTables);
  for (const { name } of await run<{ name: string }>(selectLocalRows)) await run(deleteLocalRows(name));
  const { installed, current } = await functionVersions(run);
  if (installed !== current) await together(run, [...citusFunctions, noteFunctions(current)]);
  await run(tuneShards.text);
}

/** @throws {StorageUnavailableError} if the store is not distributed, or its functions are those of another version */
async function requireDistributed(run: RunSql, found: Found | undefined): Promise<void> {
  if (found?.distributed === true) {
    const { installed, current } = await functionVersions(run);
    if (installed === current) return;
  }
  const message = 'The tables are not distributed as this version needs it: run longshore migrate';
  throw new StorageUnavailableError(message, { summary: message });
}

async function functionVersions(run: RunSql): Promise<{ installed: string | null; current: string }> {
  const [functions] = await run<{ version: string | null; migration: string }>(readFunctions);
  const source = [functions?.migration, ...citusFunctions].join('\n');
  const current = createHash('sha256').update(source).digest('hex').slice(0, 16);
  return { installed: functions?.version ?? null, current };
}

async function together(run: RunSql, statements: readonly string[]): Promise<void> {
  await run('begin');
  for (const statement of statements) await run(statement);
  await run('commit');
}
