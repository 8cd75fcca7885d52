import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { house } from '../house/house.js';

export const tools = fileURLToPath(new URL('tools/', import.meta.url));

export interface Answer {
  /** Whether the program ended with exit code 0. */
  readonly ok: boolean;
  /** The program's standard output and standard error, and the error if it failed. */
  readonly text: string;
}

/** A folder outside the repository with Longshore's packages, installed from their tarballs. */
export interface Consumer {
  readonly directory: string;
  /** The path of each tarball, by package name. */
  readonly tarballs: ReadonlyMap<string, string>;
  write(file: string, text: string): Promise<string>;
  /** Runs Node.js with these arguments, in `directory` unless `cwd` is given. */
  node(args: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string): Promise<Answer>;
  remove(): Promise<void>;
}

/**
 * Packs all published packages and installs them in a new folder, together with `typebox` and the development
 * dependencies of an application.
 */
export async function installTarballs(): Promise<Consumer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'longshore-consumer-'));
  const packed = path.join(directory, 'packages');
  const packing = await execute(process.execPath, [path.join(house, 'dev/dist/pack/main.js'), packed]);
  if (!packing.ok) throw new Error(packing.text);
  const tarballs = new Map<string, string>();
  for (const file of await readdir(packed)) {
    const tarball = path.join(packed, file);
    const manifest = await textInTarball(tarball, 'package/package.json');
    tarballs.set((JSON.parse(manifest) as { name: string }).name, tarball);
  }
  const dependencies = Object.fromEntries([...tarballs].map(([name, file]) => [name, `file:${file}`]));
  const write = async (file: string, text: string): Promise<string> => {
    const place = path.join(directory, file);
    await mkdir(path.dirname(place), { recursive: true });
    await writeFile(place, text);
    return place;
  };
  const manifest = {
    name: 'consumer',
    private: true,
    type: 'module',
    dependencies: { ...dependencies, typebox: '^1.4.3' },
    devDependencies: { '@types/node': '^20.19.43', tsx: '^4.23.15', typescript: '^5.9.3' },
  };
  await write('package.json', JSON.stringify(manifest));
  await install(directory);
  return {
    directory,
    tarballs,
    write,
    node: (args, env = {}, cwd = directory) => execute(process.execPath, args, env, cwd),
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Installs the tools unless the versions in the lock file are already installed. */
export async function installTools(): Promise<void> {
  const wanted = await readFile(path.join(tools, 'package-lock.json'), 'utf8');
  const stamp = path.join(tools, 'node_modules/.installed');
  if ((await readFile(stamp, 'utf8').catch(() => '')) === wanted) return;
  const options = ['ci', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error'];
  const { ok, text } = await execute('npm', options, {}, tools);
  if (!ok) throw new Error(text);
  await writeFile(stamp, wanted);
}

/** Installs the dependencies of a folder. Tries npm's cache alone first, because requests to the registry are slow. */
async function install(directory: string): Promise<void> {
  const options = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  if ((await execute('npm', [...options, '--offline'], {}, directory)).ok) return;
  const { ok, text } = await execute('npm', [...options, '--prefer-offline'], {}, directory);
  if (!ok) throw new Error(text);
}

export async function textInTarball(tarball: string, file: string): Promise<string> {
  const { ok, text } = await execute('tar', ['-xzOf', tarball, file]);
  if (!ok) throw new Error(text);
  return text;
}

/**
 * Runs a program and resolves to its output. Does not reject if the program fails or takes more than an hour.
 *
 * @param cwd the working directory; by default, the directory for temporary files
 */
export async function execute(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd = tmpdir(),
): Promise<Answer> {
  const inherited = { ...process.env, NODE_OPTIONS: '', NODE_V8_COVERAGE: '' };
  try {
    const options = { cwd, env: { ...inherited, ...env }, maxBuffer: 1e8, timeout: 3_600_000 };
    const { stdout, stderr } = await promisify(execFile)(command, args, options);
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { ok: false, text: `${stdout}${stderr}${String(error)}` };
  }
}
