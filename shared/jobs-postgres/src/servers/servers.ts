import {
  type ControlOptions,
  IdSource,
  isId,
  type LostServer,
  type Server,
  type ServerControlResult,
  type ServerDescription,
  type ServerRegistration,
  type ServerRequest,
  type Servers,
} from '@longshore/jobs/storage';
import type { Database } from '../connection/database.js';
import type { DatabaseClock } from '../connection/database-clock.js';
import type { Notifier } from '../notifications/notifier.js';
import type { QueueIdCache } from '../queues/queue-id-cache.js';
import { inTransaction } from '../records/audit.js';
import type { PostgresDeployments } from '../records/deployments.js';
import { Heartbeats } from './heartbeat.js';
import {
  deleteServer,
  insertServer,
  lockServer,
  requestOfServer,
  selectLostServers,
  selectServers,
  type ServerRow,
  toServer,
} from './servers.sql.js';

/** Registers, lists and controls servers. */
export class PostgresServers implements Servers {
  readonly #database: Database;
  readonly #reads: Database;
  readonly #ids: IdSource;
  readonly #queues: QueueIdCache;
  readonly #deployments: PostgresDeployments;
  readonly #notifier: Notifier;
  readonly #rescue: () => Promise<unknown>;
  readonly #heartbeats: Heartbeats;

  /** @param rescue releases the jobs of servers that are no longer registered */
  constructor(
    { database, reads }: { database: Database; reads: Database },
    clock: DatabaseClock,
    queues: QueueIdCache,
    deployments: PostgresDeployments,
    notifier: Notifier,
    rescue: () => Promise<unknown>,
  ) {
    this.#database = database;
    this.#reads = reads;
    const { pool: _, ...options } = database.options;
    this.#heartbeats = new Heartbeats(options);
    this.#ids = new IdSource(clock);
    this.#queues = queues;
    this.#deployments = deployments;
    this.#notifier = notifier;
    this.#rescue = rescue;
  }

  async register(
    description: ServerDescription,
    onRequest: (request: ServerRequest) => void = () => undefined,
  ): Promise<ServerRegistration> {
    const { host, pid, queues, concurrency, timeoutMs } = description;
    const { jobNames = null, queueWeights = null } = description;
    const id = this.#ids.newId();
    await this.#queues.idsOf(queues); // caches the ids of existing queues with one statement
    for (const queue of queues) await this.#queues.idOf(queue);
    const values = [id, host, pid, queues, concurrency, timeoutMs, jobNames, queueWeights];
    const stopServing = this.#notifier.serve(id);
    await this.#database.query(insertServer, values);
    if (description.version !== undefined) await this.#deployments.noteServer(id, description.version);
    const heartbeat = this.#heartbeats.start(id, timeoutMs, onRequest);
    return {
      id,
      lost: heartbeat.lost,
      report: (processing) => {
        heartbeat.processing = processing;
      },
      enter: (state) => {
        heartbeat.state = state;
      },
      unregister: async () => {
        stopServing();
        this.#heartbeats.stop(id);
        await this.#database.query(deleteServer, [id]);
        await this.#rescue();
      },
    };
  }

  async list(): Promise<Server[]> {
    return (await this.#reads.query<ServerRow>(selectServers)).map(toServer);
  }

  listLost(): Promise<LostServer[]> {
    return this.#reads.query<LostServer>(selectLostServers);
  }

  quiet(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult> {
    return this.#request(id, 'quiet', options);
  }

  stop(id: string, options?: ControlOptions<Server, ServerControlResult>): Promise<ServerControlResult> {
    return this.#request(id, 'stop', options);
  }

  async #request(
    id: string,
    request: ServerRequest,
    options: ControlOptions<Server, ServerControlResult> = {},
  ): Promise<ServerControlResult> {
    return inTransaction(this.#database, options, async (run, record) => {
      const [row] = isId(id) ? ((await run(lockServer, [id])) as readonly ServerRow[]) : [];
      if (row === undefined) {
        await record({ outcome: 'unknown' });
        return { outcome: 'unknown' };
      }
      const server = toServer(row);
      options.check?.(server);
      const changed = server.requested !== request && server.requested !== 'stop';
      await record({ outcome: 'ok', server, changed });
      if (changed) await run(requestOfServer, [id, request]);
      return { outcome: 'ok', server: changed ? { ...server, requested: request } : server, changed };
    });
  }

  /** Stops all heartbeats. Servers that have not unregistered will therefore be declared dead. */
  async close(): Promise<void> {
    await this.#heartbeats.close();
  }
}
