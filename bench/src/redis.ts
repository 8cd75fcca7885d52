import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from '@longshore/local-postgres';
import { processorTime } from './processor-time.js';

/** The settings that BullMQ's manual recommends. A crash can lose only about the last second of writes. */
export const redisSettings = 'appendonly yes, appendfsync everysec, maxmemory-policy noeviction';

/** The Redis server of one run, with a numbered database for each contender. The server is started on first use. */
export class BenchRedis {
  #server: Promise<{ child: ChildProcess; port: number; directory: string }> | undefined;
  #made = 0;

  /** Returns whether `PATH` contains `redis-server`. */
  static async isInstalled(): Promise<boolean> {
    const places = (process.env['PATH'] ?? '').split(path.delimiter);
    const found = await Promise.allSettled(places.map((place) => access(path.join(place, 'redis-server'))));
    return found.some(({ status }) => status === 'fulfilled');
  }

  /** Returns the URL of a new, empty database. */
  async create(): Promise<string> {
    this.#server ??= start();
    const { port } = await this.#server;
    return `redis://127.0.0.1:${port}/${this.#made++}`;
  }

  /**
   * Returns the CPU time that Redis has used so far, in milliseconds; `null` if Redis has not been started or the
   * system does not report it.
   */
  async processorTime(): Promise<number | null> {
    const server = await this.#server;
    return server?.child.pid === undefined ? null : processorTime(server.child.pid);
  }

  async stop(): Promise<void> {
    const server = await this.#server;
    if (server === undefined) return;
    const ended = once(server.child, 'exit');
    server.child.kill('SIGTERM');
    await ended;
    await rm(server.directory, { recursive: true, force: true });
  }
}

async function start(): Promise<{ child: ChildProcess; port: number; directory: string }> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-redis-'));
  const port = await freePort();
  const settings = redisSettings.split(', ').flatMap((setting) => {
    const [key, value = ''] = setting.split(' ');
    return [`--${key}`, value];
  });
  const where = ['--dir', directory, '--port', String(port), '--bind', '127.0.0.1', '--save', ''];
  const child = spawn('redis-server', [...where, '--databases', '1000', ...settings], { stdio: 'ignore' });
  for (let tries = 0; tries < 200 && !(await accepts(port)); tries++) await pause(20);
  return { child, port, directory };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
