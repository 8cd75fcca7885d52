import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { run, type Running } from './process.js';

/** A Postgres that tests may stop and start again: same data, same address. */
export interface Postgres {
  /** An empty database's URL. */
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

export async function startPostgres(): Promise<Postgres> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-acceptance-'));
  let running: Running;
  let args = ['--directory', directory, '--fast'];
  const start = async (): Promise<string> => {
    running = run('shared/local-postgres/dist/main.js', args);
    return running.nextLine();
  };
  const stop = async (): Promise<void> => void (await running.end('SIGINT'));
  const url = await start();
  args = [...args, '--port', new URL(url).port];
  return {
    url,
    stop,
    start: async () => void (await start()),
    remove: async () => {
      await stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
