import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Disk } from './disk.js';
import { run, type Running } from './process.js';

/** A Postgres that tests can restart, with the same data and address. */
export interface Postgres {
  /** The URL of an empty database. */
  readonly url: string;
  stop(): Promise<void>;
  /** Kills Postgres with SIGQUIT (an immediate shutdown), so that it recovers from the WAL at the next start. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Stops every process of Postgres with SIGSTOP, until {@link thaw}. Connections stay open, and nothing is answered. */
  freeze(): Promise<void>;
  thaw(): Promise<void>;
  /** The disk of the data; `null` if it has none of its own. */
  readonly disk: Disk | null;
  /** Returns whether Postgres has ended by itself or was stopped. */
  hasEnded(): boolean;
  /** Returns whether Postgres has a process that starts or recovers it. */
  isRecovering(): Promise<boolean>;
  /** What Postgres has logged since its last start, at most `count` lines. */
  lastLines(count: number): readonly string[];
  /** Stops Postgres and deletes its data. */
  remove(): Promise<void>;
}

/**
 * Starts a Postgres with an empty database.
 *
 * @param durable whether commits survive `kill`; such commits are slower
 * @param ownDisk whether the data have a disk of their own, which only some processes may mount
 */
export async function startPostgres({ durable = false, ownDisk = false } = {}): Promise<Postgres> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-acceptance-'));
  const disk = ownDisk ? await Disk.mount(directory) : null;
  let running: Running;
  let args = ['--directory', directory, ...(durable ? [] : ['--fast'])];
  const start = async (): Promise<string> => {
    running = run('shared/local-postgres/dist/main.js', args);
    return running.nextLine();
  };
  const stop = async (): Promise<void> => void (await running.end('SIGINT'));
  const postmaster = async (): Promise<number> =>
    Number.parseInt(await readFile(path.join(directory, 'data', 'postmaster.pid'), 'utf8'), 10);
  const kill = async (): Promise<void> => {
    process.kill(await postmaster(), 'SIGQUIT');
    await running.ended;
  };
  // The postmaster is stopped first and continued last, so that its children do not change meanwhile.
  const freeze = async (): Promise<void> => {
    const parent = await postmaster();
    process.kill(parent, 'SIGSTOP');
    for (const { pid } of await childrenOf(parent)) process.kill(pid, 'SIGSTOP');
  };
  const thaw = async (): Promise<void> => {
    const parent = await postmaster();
    for (const { pid } of await childrenOf(parent)) process.kill(pid, 'SIGCONT');
    process.kill(parent, 'SIGCONT');
  };
  const url = await start();
  args = [...args, '--port', new URL(url).port];
  return {
    url,
    stop,
    kill,
    start: async () => void (await start()),
    freeze,
    thaw,
    disk,
    hasEnded: () => running.ending() !== null,
    isRecovering: async () =>
      (await childrenOf(await postmaster())).some(({ title }) => title.startsWith('postgres: startup')),
    lastLines: (count) => running.lines.slice(-count),
    remove: async () => {
      await stop();
      await disk?.unmount();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

interface Child {
  readonly pid: number;
  /** What `ps` shows. */
  readonly title: string;
}

async function childrenOf(parent: number): Promise<Child[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'ppid=,pid=,args=']);
  return stdout.split('\n').flatMap((line) => {
    const [, ppid, pid, title = ''] = /^ *(\d+) +(\d+) (.*)$/.exec(line) ?? [];
    return Number(ppid) === parent ? [{ pid: Number(pid), title }] : [];
  });
}
