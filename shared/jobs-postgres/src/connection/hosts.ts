import pg from 'pg';
import { UnreachableError } from './errors.js';
import { destroy } from './watched-session.js';

/** What a server must be like; the values of libpq's `target_session_attrs`. */
const attributes = ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'] as const;
type SessionAttributes = (typeof attributes)[number];

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** The servers that a URL names, and which of them to use. */
export interface HostList {
  readonly hosts: readonly Host[];
  readonly attributes: SessionAttributes;
}

/** A URL for the driver, which knows one host and no attributes, and what it does not know. */
interface PlainUrl {
  readonly url: string;
  readonly hosts?: HostList;
}

/**
 * Separates the hosts and `target_session_attrs` from a Postgres URL.
 *
 * @param option name of the option that contains the URL, for error messages
 * @throws {RangeError} if a host or the attribute is invalid. Messages contain no part of the URL
 */
export function hostsOfUrl(option: string, url: string): PlainUrl {
  const [, start = '', list = '', path = '', query = ''] =
    /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const parameters = new URLSearchParams(query.slice(1));
  if (parameters.get('host')?.includes(',') === true)
    throw new RangeError(`${option} names several hosts in a parameter: write them before the path instead`);
  const names = list.split(',');
  const attribute = parameters.get('target_session_attrs');
  if (names.length === 1 && attribute === null) return { url };
  const wanted = attributes.find((name) => name === (attribute ?? 'any'));
  if (wanted === undefined)
    throw new RangeError(`${option} has an unknown target_session_attrs: give ${attributes.join(', ')}`);
  const hosts = names.map((name) => hostOf(option, name));
  const rest = query.replace(/([?&])target_session_attrs=[^&#]*&?/, '$1').replace(/[?&]$/, '');
  return { url: `${start}${names[0] ?? ''}${path}${rest}`, hosts: { hosts, attributes: wanted } };
}

function hostOf(option: string, name: string): Host {
  const [, address, host = address, port = '5432'] =
    /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(name) ?? [];
  if (host === undefined)
    throw new RangeError(`${option} has an invalid list of hosts: give host:port,host:port`);
  return { host: decodeURIComponent(host), port: Number(port) };
}

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
  readonly #config: pg.ClientConfig;
  readonly #asking = new Set<pg.Client>();
  #chosen: Promise<Host> | undefined;

  constructor(list: HostList, config: pg.ClientConfig) {
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
    const { connection } = client as unknown as { connection: { stream: { destroyed?: boolean } } };
    if (connection.stream.destroyed === true)
      throw new UnreachableError('The connection was closed meanwhile');
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
