import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort } from '../test/system/service.js';
import type { Address, PostgresNode } from './postgres-node.js';

/** How the services find the primary. */
export interface Route {
  /** Environment variables of the services. */
  readonly environment: Readonly<Record<string, string>>;
  /** Makes the route lead to another server, as whatever promotes it would. */
  follow(node: PostgresNode): Promise<void>;
  close(): Promise<void>;
}

/** Creates a route for a primary and its standby, with files in a directory of its own. */
type CreateRoute = (primary: PostgresNode, standby: PostgresNode, directory: string) => Promise<Route>;

/** A kind of route, and where its servers listen. */
export interface RouteKind {
  readonly title: string;
  readonly addresses: () => Promise<readonly [primary: Address, standby: Address]>;
  readonly create: CreateRoute;
}

const local = async (host: string): Promise<Address> => ({ host, port: await freePort() });

/** Both servers are named in the URL, and each new connection looks for the one that accepts writes. */
const hosts: RouteKind = {
  title: 'several hosts in the URL',
  addresses: async () => [await local('127.0.0.1'), await local('127.0.0.1')],
  create: async (primary, standby) => {
    const url = bothHosts(primary, standby);
    return { environment: { DATABASE_URL: url }, follow: async () => {}, close: async () => {} };
  },
};

function bothHosts(primary: PostgresNode, standby: PostgresNode): string {
  const { username, password, pathname } = new URL(primary.url);
  const places = [primary, standby].map(({ address }) => `${address.host}:${address.port}`).join(',');
  return `postgres://${username}:${password}@${places}${pathname}?target_session_attrs=read-write`;
}

const hostsFile = '/etc/hosts';
const name = 'longshore-failover.test';

/** A name leads to the primary. Here it is in `/etc/hosts`, which needs root; elsewhere, in the DNS. */
const dns: RouteKind = {
  title: 'a name that changes',
  addresses: async () => {
    const port = await freePort();
    return [
      { host: '127.0.0.2', port },
      { host: '127.0.0.3', port },
    ];
  },
  create: async (primary) => {
    const others = (await readFile(hostsFile, 'utf8'))
      .split('\n')
      .filter((line) => !line.endsWith(` ${name}`))
      .join('\n')
      .trimEnd();
    const point = ({ address }: PostgresNode): Promise<void> =>
      writeFile(hostsFile, `${others}\n${address.host} ${name}\n`);
    await point(primary);
    const url = new URL(primary.url);
    url.hostname = name;
    return {
      environment: { DATABASE_URL: url.href },
      follow: point,
      close: () => writeFile(hostsFile, `${others}\n`),
    };
  },
};

/** Reaches the primary through pgbouncer in transaction mode. After a promotion, its configuration names the other server. */
const pgbouncer: RouteKind = {
  title: 'pgbouncer in front',
  addresses: hosts.addresses,
  create: async (primary, standby, directory) => {
    await mkdir(directory, { recursive: true, mode: 0o755 });
    await chmod(directory, 0o755);
    const port = await freePort();
    const file = path.join(directory, 'pgbouncer.ini');
    const users = path.join(directory, 'users.txt');
    const { username, password } = new URL(primary.url);
    await writeFile(users, `"${username}" "${password}"\n`, { mode: 0o644 });
    const point = ({ address }: PostgresNode): Promise<void> =>
      writeFile(
        file,
        [
          '[databases]',
          `* = host=${address.host} port=${address.port}`,
          '[pgbouncer]',
          'pool_mode = transaction',
          'listen_addr = 127.0.0.1',
          `listen_port = ${port}`,
          'unix_socket_dir =',
          'auth_type = trust',
          `auth_file = ${users}`,
          'default_pool_size = 20',
          'server_login_retry = 1', // in seconds; how long a server that refuses connections is left alone
          '',
        ].join('\n'),
      );
    await point(primary);
    const pooler = startPgBouncer(file);
    const url = new URL(primary.url);
    url.host = `127.0.0.1:${port}`;
    return {
      environment: {
        DATABASE_URL: url.href,
        DATABASE_POOLER: 'transaction',
        DATABASE_DIRECT_URL: bothHosts(primary, standby),
      },
      follow: async (node) => {
        await point(node);
        pooler.kill('SIGHUP');
      },
      close: async () => {
        pooler.kill('SIGINT');
        if (pooler.exitCode === null) await once(pooler, 'exit');
      },
    };
  },
};

function startPgBouncer(file: string): ChildProcess {
  const unprivileged = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  return spawn('pgbouncer', [...unprivileged, '-q', file], { stdio: 'ignore' });
}

export const routeKinds: Readonly<Record<string, RouteKind>> = { hosts, dns, pgbouncer };
