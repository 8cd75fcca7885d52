import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** Directory of the packages that only the benchmarks need. */
export const peersDirectory = new URL('../peers/', import.meta.url);

interface Manifest {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  /** Peers that a smoke run does not need. */
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Versions by package name. */
export type PeerVersions = Readonly<Record<string, string>>;

/**
 * Installs the peers unless the required versions are already installed. Returns the versions.
 *
 * @param all whether to include the peers that a smoke run does not need
 * @throws {Error} if npm fails
 */
export async function installPeers({ all }: { all: boolean }): Promise<PeerVersions> {
  const manifest = await readManifest('package.json');
  const dependencies = { ...manifest.dependencies, ...(all && manifest.optionalDependencies) };
  const wanted = Object.entries(dependencies);
  const present = await Promise.all(
    wanted.map(async ([name, version]) => (await installed(name)) === version),
  );
  if (present.every(Boolean)) return dependencies;
  process.stderr.write('Installing what Longshore is measured beside (once, about 200 MB)\n');
  await rm(new URL('node_modules', peersDirectory), { recursive: true, force: true });
  const options = [
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(all ? [] : ['--omit=optional']),
  ];
  const npm = spawn('npm', ['install', '--prefix', fileURLToPath(peersDirectory), ...options], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const [code] = (await once(npm, 'close')) as [number | null];
  if (code !== 0) throw new Error('npm could not install the peers');
  return dependencies;
}

/**
 * Returns the path of the Node.js executable that runs every measured process. The peers need a newer version than
 * Longshore does.
 */
export function peerNode(): string {
  return fileURLToPath(new URL('node_modules/node/bin/node', peersDirectory));
}

async function installed(name: string): Promise<string | null> {
  try {
    return (await readManifest(`node_modules/${name}/package.json`)).version;
  } catch {
    return null;
  }
}

async function readManifest(file: string): Promise<Manifest> {
  return JSON.parse(await readFile(new URL(file, peersDirectory), 'utf8')) as Manifest;
}
