import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { embeddedMigrations } from './embedded-migrations.js';
import { packageFile } from './package-file.js';

/** A directory of migration files, or a map from file names to SQL texts. */
export type MigrationFiles = URL | Readonly<Record<string, string>>;

/** The migrations of the job store: a directory of this package or, in a bundle, the embedded texts. */
export const jobStoreFiles: MigrationFiles = packageFile('migrations/') ?? embeddedMigrations;

/** Returns the SQL texts of the migrations by file name. */
export async function textsOf(files: MigrationFiles): Promise<Readonly<Record<string, string>>> {
  if (!(files instanceof URL)) return files;
  const names = (await readdir(files)).filter((name) => name.endsWith('.sql'));
  const directory = fileURLToPath(files);
  const texts = names.map(
    async (name) => [name, await readFile(path.join(directory, name), 'utf8')] as const,
  );
  return Object.fromEntries(await Promise.all(texts));
}

/**
 * Calls `work` with the path of a directory that contains the files. Texts are written to a temporary directory, which
 * is deleted afterwards.
 */
export async function withDirectory(
  files: MigrationFiles,
  work: (directory: string) => Promise<void>,
): Promise<void> {
  if (files instanceof URL) return work(fileURLToPath(files));
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-migrations-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(path.join(directory, name), text);
    await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
