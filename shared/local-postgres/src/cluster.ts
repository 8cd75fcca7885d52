import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chown, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { Binaries } from './binaries.js';
import { dataOwner, launch } from './launch.js';

/** The data directory of a Postgres cluster, and the name and password of its superuser. */
export interface Cluster {
  readonly data: string;
  readonly user: string;
  readonly password: string;
}

const user = 'longshore';

/**
 * Opens the cluster in `directory`; creates it if it does not exist. A new data directory gets its final name only when
 * `initdb` has succeeded, so an interrupted `initdb` does not affect later starts.
 */
export async function openCluster(binaries: Binaries, directory: string): Promise<Cluster> {
  const { data, passwordFile } = filesIn(directory);
  if (!existsSync(data)) await createCluster(binaries, { data, passwordFile });
  return { data, user, password: await readFile(passwordFile, 'utf8') };
}

/** Returns the cluster in `directory`; `null` if there is none. */
export async function existingCluster(directory: string): Promise<Cluster | null> {
  const { data, passwordFile } = filesIn(directory);
  return existsSync(data) ? { data, user, password: await readFile(passwordFile, 'utf8') } : null;
}

function filesIn(directory: string): { data: string; passwordFile: string } {
  return { data: path.join(directory, 'data'), passwordFile: path.join(directory, 'password') };
}

async function createCluster(
  binaries: Binaries,
  files: { data: string; passwordFile: string },
): Promise<void> {
  const owner = dataOwner();
  const unfinished = `${files.data}.unfinished`;
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished, { recursive: true, mode: 0o700 });
  await writeFile(files.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
  if (owner !== null) {
    await chown(unfinished, owner, owner);
    await chown(files.passwordFile, owner, owner);
  }
  await runInitdb(binaries.initdb, [
    `--pgdata=${unfinished}`,
    `--username=${user}`,
    `--pwfile=${files.passwordFile}`,
    '--auth=scram-sha-256',
    // One iteration is enough for a password of 24 random bytes. More would only slow down connections.
    '--set=scram_iterations=1',
    // Sorts text in the same order on every machine, regardless of the installed locales.
    '--encoding=UTF8',
    '--no-locale',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
    '--no-sync',
  ]);
  await rename(unfinished, files.data);
}

async function runInitdb(program: string, args: readonly string[]): Promise<void> {
  const child = launch(program, args);
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const [output, code] = await Promise.all([text(child.stderr), closed]);
  if (code !== 0) throw new Error(`initdb failed:\n${output.trim()}`);
}
