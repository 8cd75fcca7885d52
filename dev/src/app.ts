/**
 * Implements `make app`: creates an application that uses the packages of this repository, as long as they are not on npm.
 * Usage: `node dev/dist/app.js DIRECTORY`.
 */
import { spawnSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { packAll } from './pack/pack-all.js';

/** Where the application keeps the packages, so that it can be moved, committed and built in a container. */
const folder = 'packages';

const root = fileURLToPath(new URL('../../', import.meta.url));
const [directory] = process.argv.slice(2);
if (!directory) throw new Error('Give the directory of the application: make app DIRECTORY=../my-app');
const application = path.resolve(directory);
const create = path.join(root, 'shared/create-longshore/dist/main.js');
const created = spawnSync(process.execPath, [create, application, '--no-install'], {
  stdio: ['ignore', 'ignore', 'inherit'],
});
if (created.status !== 0) process.exit(1);
const packages = path.join(application, folder);
await mkdir(packages);
const tarballs = new Map<string, string>();
for (const file of await packAll(packages))
  tarballs.set(nameOf(file), `file:${folder}/${path.basename(file)}`);
await change('package.json', (text) => withTarballs(text, tarballs));
await change('Dockerfile', (text) =>
  text.replace(/^COPY package.json .*$/m, (line) => `${line}\nCOPY ${folder} ./${folder}`),
);
const installed = spawnSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], {
  cwd: application,
  stdio: 'inherit',
  shell: process.platform === 'win32', // on Windows, npm is a script and needs a shell
});
if (installed.status !== 0) process.exit(1);
process.stdout.write(`\nCreated ${directory}. Next:\n\n  cd ${directory}\n  npm run dev\n\n`);

async function change(file: string, edit: (text: string) => string): Promise<void> {
  const place = path.join(application, file);
  await writeFile(place, edit(await readFile(place, 'utf8')));
}

/** Returns the name of the package in a tarball of `npm pack`. */
function nameOf(file: string): string {
  const name = path.basename(file).replace(/-\d+\.\d+\.\d+.*$/, '');
  return name.replace(/^longshore-/, '@longshore/');
}

/** Makes an application's package.json take all packages of this repository from tarballs, also those that it does not name. */
function withTarballs(text: string, files: ReadonlyMap<string, string>): string {
  const manifest = JSON.parse(text) as Record<string, Record<string, string>>;
  const rest = new Map(files);
  rest.delete('create-longshore');
  for (const kind of ['dependencies', 'devDependencies'])
    for (const name of Object.keys(manifest[kind] ?? {})) {
      const file = files.get(name);
      if (file === undefined) continue;
      manifest[kind] = { ...manifest[kind], [name]: file };
      rest.delete(name);
    }
  return `${JSON.stringify({ ...manifest, overrides: Object.fromEntries(rest) }, null, 2)}\n`;
}
