import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { house } from '../house/house.js';

const execute = promisify(execFile);

/**
 * The release before the current version. Until the first release exists, this is the first commit with that release's
 * schema.
 */
const previousRelease = 'c2c5c788e6f8814abbcd3cd68a16a2168ffaba58';

/** Workspaces whose runtime dependencies are installed. Dependencies of tests and tools are left out. */
const runtime = ['services/api', 'services/worker', 'services/dashboard'];

/**
 * Exports the previous release below `.data` and builds its services there, unless an earlier run has done so.
 * Transpiles the code without type-checking. Installs only the services' runtime dependencies. Resolves to the root of
 * the export.
 */
export async function buildPreviousRelease(): Promise<string> {
  const root = path.join(house, '.data', 'rollout', previousRelease);
  const built = path.join(root, '.built');
  if (existsSync(built)) return root;
  await rm(root, { recursive: true, force: true });
  await mkdir(root, { recursive: true });
  // Exports the files instead of adding a work tree, because git would register the work tree in this repository.
  await execute('sh', ['-c', `git archive ${previousRelease} | tar -x -C "${root}"`], { cwd: house });
  await Promise.all([install(root), transpile(root)]);
  await mkdir(built);
  return root;
}

async function install(root: string): Promise<void> {
  const options = ['--omit=dev', '--no-audit', '--no-fund', '--prefer-offline'];
  await execute('npm', ['ci', ...options, ...runtime.map((name) => `--workspace=${name}`)], { cwd: root });
}

/** Compiles each package's `src` to its `dist`, without type declarations. */
async function transpile(root: string): Promise<void> {
  for (const folder of ['shared', 'services']) {
    for (const name of await readdir(path.join(root, folder))) {
      const [from, to] = [path.join(root, folder, name, 'src'), path.join(root, folder, name, 'dist')];
      const sources = await readdir(from, { recursive: true }).catch(() => []);
      const entryPoints = sources.filter((file) => file.endsWith('.ts')).map((file) => path.join(from, file));
      await build({
        entryPoints,
        outbase: from,
        outdir: to,
        format: 'esm',
        target: 'es2023',
        logLevel: 'error',
      });
    }
  }
}
