import {
  type ActionOptions,
  checkDeployment,
  type ControlOptions,
  type Deployment,
  type Deployments,
  IdSource,
  type NewDeployment,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import { inTransaction } from './audit.js';
import {
  deleteDeployment,
  insertDeployment,
  lockVersions,
  noteVersion,
  selectDeployments,
} from './deployments.sql.js';

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

  async record(given: NewDeployment, options: ActionOptions<Deployment> = {}): Promise<Deployment> {
    const { id = this.#ids.newId(), version, at, note } = checkDeployment(given);
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

  async delete(id: string, options: ControlOptions<Deployment, boolean> = {}): Promise<boolean> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [deployment] = (await run(deleteDeployment, [id])) as readonly Deployment[];
      if (deployment !== undefined) options.check?.(deployment); // if it throws, nothing is deleted
      await record(deployment !== undefined);
      return deployment !== undefined;
    });
  }
}
