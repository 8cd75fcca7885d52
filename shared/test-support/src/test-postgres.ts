import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startLocalPostgres } from '@longshore/local-postgres';

interface TestPostgres {
  /** The `postgres://…` URL of a database from which others can be created. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Minimum free memory, in bytes, for keeping the data in memory: several times what a test run needs. */
const minBytesInMemory = 4_000_000_000;

let started: Promise<TestPostgres> | undefined;

/**
 * Returns the Postgres of this test run: the server at `TEST_POSTGRES_URL` if that is set (the role in the URL must be
 * allowed to create databases), otherwise a local server that is started on first use.
 */
export function testPostgres(): Promise<TestPostgres> {
  const given = process.env['TEST_POSTGRES_URL'];
  started ??=
    given === undefined ? startTemporary() : Promise.resolve({ url: given, stop: () => Promise.resolve() });
  return started;
}

/**
 * Stops the local Postgres of this run, if one was started, and deletes its data. Leaves a server at
 * `TEST_POSTGRES_URL` running.
 */
export async function stopTestPostgres(): Promise<void> {
  const postgres = await started;
  started = undefined;
  await postgres?.stop();
}

async function startTemporary(): Promise<TestPostgres> {
  const directory = await mkdtemp(path.join(await parentDirectory(), 'longshore-test-'));
  const postgres = await startLocalPostgres({ directory, durable: false });
  const stop = async (): Promise<void> => {
    await postgres.stop();
    await rm(directory, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
}

/**
 * Returns the directory for the data: in memory if enough memory is free, otherwise on disk. Creating a test database
 * copies 860 files. This takes 80 ms in memory and 500 ms on a disk.
 */
async function parentDirectory(): Promise<string> {
  const memory = await statfs('/dev/shm').catch(() => null);
  return memory !== null && memory.bavail * memory.bsize > minBytesInMemory ? '/dev/shm' : tmpdir();
}
