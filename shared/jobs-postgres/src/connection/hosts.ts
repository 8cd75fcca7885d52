import pg from 'pg';
import type { ClientConfig } from './database-options.js';
import { UnreachableError } from './errors.js';
import type { Host, HostList, SessionAttributes } from './host-list.js';
import { renewCredentials, requireOpen } from './url-file.js';
import { destroy } from './watched-session.js';

/** How long a choice is used for further connections, in milliseconds. */
const chosenForMs = 1_000;

interface Server {
  readonly recovering: boolean;
  readonly read_only: string;
}

const selectServer = `
  select pg_catalog.pg_is_in_recovery() as recovering, pg_catalog.current_setting('transaction_read_only') as read_only`;

/** Chooses among several servers. Asks all at once, and takes the first to answer that is as it must be. */
export class Hosts {
  readonly #list: HostList;
  readonly #config: ClientConfig;
  readonly #asking = new Set<pg.Client>();
  #chosen: Promise<Host> | undefined;

  constructor(list: HostList, config: ClientConfig) {
    this.#list = list;
    this.#config = config;
  }

  /**
   * Makes a client that is not connected yet connect to the chosen server.
   *
   * @throws {UnreachableError} if no server is as it must be
   */
  async aim(client: pg.Client): Promise<void> {
    Object.assign(client, await this.#choose());
    requireOpen(client);
  }

  /** Makes the next connection choose again. */
  forget(): void {
    this.#chosen = undefined;
    for (const client of this.#asking) destroy(client);
  }

  #choose(): Promise<Host> {
    this.#chosen ??= this.#ask().finally(() => {
      const chosen = this.#chosen;
      setTimeout(() => {
        if (this.#chosen === chosen) this.forget();
      }, chosenForMs).unref();
    });
    return this.#chosen;
  }

  async #ask(): Promise<Host> {
    const { hosts, attributes: wanted } = this.#list;
    const servers = hosts.map(async (host) => ({ host, server: await this.#examine(host) }));
    const first = async (accepts: (server: Server) => boolean): Promise<Host> =>
      Promise.any(
        servers.map(async (asked) => {
          const { host, server } = await asked;
          if (!accepts(server)) throw new UnreachableError(`${host.host}:${host.port} is not ${wanted}`);
          return host;
        }),
      );
    try {
      return await first(acceptance[wanted]).catch((error: unknown) => {
        if (wanted === 'prefer-standby') return first(() => true);
        throw error;
      });
    } catch (error) {
      const names = hosts.map(({ host, port }) => `${host}:${port}`).join(', ');
      throw new UnreachableError(
        `None of the hosts ${names} can be used (target_session_attrs=${wanted}): each is down, or is not what the URL asks for`,
        {
          cause: error,
          summary: `None of the servers can be used (target_session_attrs=${wanted}): each is down, or is not what the URL asks for`,
        },
      );
    }
  }

  async #examine(host: Host): Promise<Server> {
    const client = Object.assign(new pg.Client(this.#config), host);
    client.on('error', () => undefined);
    this.#asking.add(client);
    try {
      await renewCredentials(client, this.#config);
      await client.connect();
      const [server] = (await client.query<Server>(selectServer)).rows;
      if (server === undefined) throw new UnreachableError('The server did not describe itself');
      return server;
    } finally {
      this.#asking.delete(client);
      destroy(client);
    }
  }
}

const acceptance: Readonly<Record<SessionAttributes, (server: Server) => boolean>> = {
  any: () => true,
  'read-write': ({ read_only: readOnly }) => readOnly === 'off',
  'read-only': ({ read_only: readOnly }) => readOnly === 'on',
  primary: (server) => !server.recovering,
  standby: (server) => server.recovering,
  'prefer-standby': (server) => server.recovering,
};
