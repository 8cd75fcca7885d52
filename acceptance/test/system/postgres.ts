import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run, type Running } from './process.js';

/** A Postgres that tests can restart, with the same data and address. */
export interface Postgres {
  /** The URL of an empty database. */
  readonly url: string;
  stop(): Promise<void>;
  /** Kills Postgres with SIGQUIT (an immediate shutdown), so that it recovers from the WAL at the next start. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops Postgres and deletes its data. */
  remove(): Promise<void>;
}

/**
 * Starts a Postgres with an empty database.
 *
 * @param durable whether commits survive `kill`; such commits are slower
 */
export async function startPostgres({ durable = false } = {}): Promise<Postgres> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-acceptance-'));
  let running: Running;
  let args = ['--directory', directory, ...(durable ? [] : ['--fast'])];
  const start = async (): Promise<string> => {
    running = run('shared/local-postgres/dist/main.js', args);
    return running.nextLine();
  };
  const stop = async (): Promise<void> => void (await running.end('SIGINT'));
  const kill = async (): Promise<void> => {
    process.kill(
      Number.parseInt(await readFile(path.join(directory, 'data', 'postmaster.pid'), 'utf8'), 10),
      'SIGQUIT',
    );
    await running.ended;
  };
  const url = await start();
  args = [...args, '--port', new URL(url).port];
  return {
    url,
    stop,
    kill,
    start: async () => void (await start()),
    remove: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
