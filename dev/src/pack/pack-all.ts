import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Manifest, Package, Publisher } from './manifest.js';
import { stage } from './stage.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * Builds the tarballs of all packages that are not private.
 *
 * @param out an existing directory
 * @returns the paths of the tarballs
 */
export async function packAll(out: string): Promise<string[]> {
  const packages = await packagesOf(root);
  const published = packages.filter(({ manifest }) => manifest.private !== true);
  const versions = new Map(published.map(({ manifest }) => [manifest.name, manifest.version]));
  const publisher = await readJson<Publisher>(path.join(root, 'package.json'));
  const { author, homepage, bugs, repository } = publisher;
  const staging = await mkdtemp(path.join(tmpdir(), 'longshore-pack-'));
  try {
    const folders = await Promise.all(
      published.map((each) => stage(root, each, { author, homepage, bugs, repository }, versions, staging)),
    );
    const args = ['pack', '--json', '--ignore-scripts', `--pack-destination=${out}`, ...folders];
    await promisify(execFile)('npm', args, { cwd: staging, maxBuffer: 1e8 });
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
  return (await readdir(out)).filter((file) => file.endsWith('.tgz')).map((file) => path.join(out, file));
}

/** Returns all packages of the repository, including private ones. */
async function packagesOf(directory: string): Promise<Package[]> {
  const { workspaces } = await readJson<{ workspaces: string[] }>(path.join(directory, 'package.json'));
  const folders = await Promise.all(
    workspaces.map(async (pattern) => {
      if (!pattern.endsWith('/*')) return [pattern];
      const parent = pattern.slice(0, -2);
      return (await readdir(path.join(directory, parent))).map((name) => `${parent}/${name}`);
    }),
  );
  return Promise.all(
    folders.flat().map(async (folder) => ({
      folder,
      manifest: await readJson<Manifest>(path.join(directory, folder, 'package.json')),
    })),
  );
}

async function readJson<Content>(file: string): Promise<Content> {
  return JSON.parse(await readFile(file, 'utf8')) as Content;
}
