import {
  type ActionOptions,
  checkDeployment,
  type ControlOptions,
  type Deployment,
  type Deployments,
  IdSource,
  isId,
  type NewDeployment,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { inTransaction } from './audit.js';
import { prepared } from '../connection/statement.js';

/** Records, lists and deletes deployments. */
export class PostgresDeployments implements Deployments {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #ids: IdSource;

  constructor({ database, reads }: { database: Database; reads: Database }, clock: DatabaseClock) {
    this.#database = database;
    this.#reads = reads;
    this.#ids = new IdSource(clock);
  }

  async record(newDeployment: NewDeployment, options: ActionOptions<Deployment> = {}): Promise<Deployment> {
    const { id = this.#ids.newId(), version, at, note } = checkDeployment(newDeployment);
    const values = [id, version, at ?? null, note ?? null];
    return inTransaction(this.#database, options, async (run, record) => {
      const [deployment] = (await run(insertDeployment, values)) as readonly Deployment[];
      if (deployment === undefined) throw new Error('The deployment was not stored');
      await record(deployment);
      return deployment;
    });
  }

  /**
   * Records the version of a server that has just registered. Also records a deployment if the version is new (see
   * {@link noteVersion}).
   */
  async noteServer(serverId: string, version: string): Promise<void> {
    await this.#database.transaction(async (client) => {
      await client.query(lockVersions);
      await client.query(noteVersion, [serverId, version, this.#ids.newId()]);
    });
  }

  async find(id: string): Promise<Deployment | null> {
    const rows = await this.#reads.query<Deployment & Record<string, unknown>>(selectDeployments, [
      id,
      null,
      null,
    ]);
    return rows[0] ?? null;
  }

  list(span?: { readonly from: Date; readonly until: Date }): Promise<Deployment[]> {
    const values = [null, span?.from ?? null, span?.until ?? null];
    return this.#reads.query<Deployment & Record<string, unknown>>(selectDeployments, values);
  }

  async versionsOf(serverIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#reads.query<{ id: string; version: string }>(selectVersions, [
      serverIds.filter(isId),
    ]);
    return new Map(rows.map(({ id, version }) => [id, version]));
  }

  async delete(id: string, options: ControlOptions<Deployment, boolean> = {}): Promise<boolean> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [deployment] = (await run(deleteDeployment, [id])) as readonly Deployment[];
      if (deployment !== undefined) options.check?.(deployment); // if it throws, nothing is deleted
      await record(deployment !== undefined);
      return deployment !== undefined;
    });
  }
}

/** $1 id, $2 version, $3 time (null for now), $4 note. */
export const insertDeployment = prepared(
  'longshore-insert-deployment',
  `
    insert into longshore.deployment (id, version, at, note, source) values ($1, $2, coalesce($3::timestamptz, now()), $4, 'api')
    returning id, version, at, note, source`,
);

/** Takes a lock for the rest of the transaction, so that only one server at a time records its version. */
export const lockVersions = prepared(
  'longshore-lock-versions',
  `select pg_advisory_xact_lock(longshore.lock_key('server_version'))::text`,
);

/**
 * $1 server, $2 version, $3 id for a new deployment. Records the server's version. Also records a deployment if no other registered server has this version and the
 * latest deployment has a different one. A restart during a rolling deployment therefore records no deployment, but a
 * rollback does. Ignores deployments with a future time.
 *
 * Must run after {@link lockVersions}, as a separate statement, so that the snapshot includes servers that have just
 * registered.
 */
export const noteVersion = prepared(
  'longshore-note-version',
  `
    with new_deployment as (
      insert into longshore.deployment (id, version, source)
      select $3::uuid, $2::text, 'server'
      where not exists (
          select 1 from longshore.server_version join longshore.server on server.id = server_id
          where version = $2 and server_id <> $1)
        and (select version from longshore.deployment where at <= now() order by at desc limit 1) is distinct from $2
    )
    insert into longshore.server_version (server_id, version) values ($1, $2)`,
);

/**
 * $1 id, or null for any; $2 start and $3 end (exclusive), or null for no bound. Returns up to 1000 deployments, newest
 * first.
 */
export const selectDeployments = prepared(
  'longshore-select-deployments',
  `
    select id, version, at, note, source from longshore.deployment
    where ($1::uuid is null or id = $1) and ($2::timestamptz is null or at >= $2) and ($3::timestamptz is null or at < $3)
    order by at desc, id desc limit 1000`,
);

/** $1 servers. */
export const selectVersions = prepared(
  'longshore-select-versions',
  `select server_id as id, version from longshore.server_version where server_id = any($1)`,
);

/** $1 id. */
export const deleteDeployment = prepared(
  'longshore-delete-deployment',
  `delete from longshore.deployment where id = $1 returning id, version, at, note, source`,
);

/** Deletes deployments that are older than $1 days. */
export const deleteOldDeployments = prepared(
  'longshore-delete-old-deployments',
  `delete from longshore.deployment where at < now() - $1::integer * interval '1 day'`,
);

/** Deletes the versions of servers that registered more than $1 days ago and have stopped. */
export const deleteOldVersions = prepared(
  'longshore-delete-old-versions',
  `
    delete from longshore.server_version
    where noted_at < now() - $1::integer * interval '1 day'
      and not exists (select 1 from longshore.server where id = server_id)`,
);
