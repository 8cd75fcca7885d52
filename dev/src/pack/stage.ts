import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Package, publishedManifest, type Publisher } from './manifest.js';

/** The module of `longshore` that contains the migrations as text, so that bundles include them. */
const embedded = { folder: 'shared/jobs-postgres', file: 'dist/connection/embedded-migrations.js' };

/**
 * Copies the files that a package publishes into a new directory: the files that the manifest lists, the README, the
 * license and the manifest for publishing. Omits source maps, build information and the output of deleted sources.
 *
 * @returns the path of the directory
 * @throws {Error} if the package has no README
 */
export async function stage(
  root: string,
  { folder, manifest }: Package,
  publisher: Publisher,
  versions: ReadonlyMap<string, string>,
  staging: string,
): Promise<string> {
  const from = path.join(root, folder);
  const to = path.join(staging, folder.replaceAll('/', '-'));
  await mkdir(to);
  for (const listed of manifest.files ?? []) {
    for (const file of await filesBelow(from, listed)) await copy(from, to, file);
  }
  await cp(path.join(from, 'README.md'), path.join(to, 'README.md'));
  await cp(path.join(root, 'LICENSE'), path.join(to, 'LICENSE'));
  if (folder === embedded.folder) await embedMigrations(from, to);
  const text = JSON.stringify(publishedManifest(manifest, folder, publisher, versions), null, 2);
  await writeFile(path.join(to, 'package.json'), `${text}\n`);
  return to;
}

/**
 * Returns the files to publish for one entry of the manifest's `files`, which is a folder or a file. The returned paths
 * are relative to the package.
 */
async function filesBelow(from: string, listed: string): Promise<string[]> {
  if ((await stat(path.join(from, listed))).isFile()) return [listed];
  const entries = await readdir(path.join(from, listed), { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(from, path.join(entry.parentPath, entry.name)));
  const sources = new Set(
    listed === 'dist' ? await readdir(path.join(from, 'src'), { recursive: true }) : [],
  );
  return files.filter((file) => isPublished(file, sources));
}

function isPublished(file: string, sources: ReadonlySet<string>): boolean {
  if (/\.map$|\.tsbuildinfo$/.test(file)) return false;
  if (file.startsWith('src/')) return !file.endsWith('.ts'); // only the dashboard's page templates
  const compiled = /^dist\/(.*?)(?:\.d)?\.[jt]s$/.exec(file);
  return compiled === null || sources.has(`${compiled[1]}.ts`);
}

/** Copies a file without the comment that points to its source map. */
async function copy(from: string, to: string, file: string): Promise<void> {
  await mkdir(path.dirname(path.join(to, file)), { recursive: true });
  if (!/^dist\/.*\.[jt]s$/.test(file)) {
    await cp(path.join(from, file), path.join(to, file));
    return;
  }
  const text = await readFile(path.join(from, file), 'utf8');
  await writeFile(path.join(to, file), text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
}

async function embedMigrations(from: string, to: string): Promise<void> {
  const names = (await readdir(path.join(from, 'migrations'))).toSorted();
  const texts = await Promise.all(
    names.map(async (name) => [name, await readFile(path.join(from, 'migrations', name), 'utf8')] as const),
  );
  const module = `export const embeddedMigrations = ${JSON.stringify(Object.fromEntries(texts), null, 2)};\n`;
  await writeFile(path.join(to, embedded.file), module);
}
