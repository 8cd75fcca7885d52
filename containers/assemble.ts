// node containers/assemble.ts SERVICE OUT [PACKAGE…]: copies into OUT what the service and further packages need at run time:
// their production dependencies, and the packages of this repository that they depend on, with the files listed in
// their manifests.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

const [service = '', out = '', ...others] = process.argv.slice(2);
const workspaces = [`services/${service}`, ...others].map((folder) => `--workspace=${folder}`);

// Optional packages support pg on other platforms.
const omit = ['--omit=dev', '--omit=optional'];
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
execFileSync('npm', ['ci', ...omit, ...quiet, ...workspaces], { stdio: 'inherit' });

const linked = path.join('node_modules', '@longshore');
const packages = readdirSync(linked).map((name) => path.relative('.', realpathSync(path.join(linked, name))));

const isForRunning = (file: string): boolean => !/\.ts(\.map)?$|\.tsbuildinfo$/.test(file);

for (const source of packages) {
  const manifest = readFileSync(path.join(source, 'package.json'), 'utf8');
  const { files = ['dist'] } = JSON.parse(manifest) as { files?: string[] };
  mkdirSync(path.join(out, 'app', source), { recursive: true });
  for (const file of ['package.json', ...files]) {
    cpSync(path.join(source, file), path.join(out, 'app', source, file), {
      recursive: true,
      filter: isForRunning,
    });
  }
}
cpSync('node_modules', path.join(out, 'dependencies', 'node_modules'), {
  recursive: true,
  verbatimSymlinks: true,
  filter: isForRunning,
});
