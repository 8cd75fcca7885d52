// node containers/assemble.ts SERVICE OUT [PACKAGE…]: copies into OUT everything that the service and the given
// packages need at run time: their production dependencies, and the packages of this repository with the files listed
// in their manifests.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import path from 'node:path';

const [service = '', out = '', ...others] = process.argv.slice(2);
const workspaces = [`services/${service}`, ...others].map((folder) => `--workspace=${folder}`);

// Omits optional packages, because only other platforms need them.
const omit = ['--omit=dev', '--omit=optional'];
const quiet = ['--ignore-scripts', '--no-audit', '--no-fund'];
execFileSync('npm', ['ci', ...omit, ...quiet, ...workspaces], { stdio: 'inherit' });

// Finds the packages of this repository. npm links them into node_modules.
const packages = ['longshore', ...readdirSync('node_modules/@longshore').map((name) => `@longshore/${name}`)]
  .map((name) => path.join('node_modules', name))
  .filter((link) => existsSync(link))
  .map((link) => path.relative('.', realpathSync(link)));

/**
 * Whether to copy a file. Omits TypeScript sources, source maps and build information. Keeps type declarations, because
 * applications that build on an image compile against them.
 */
const isKept = (file: string): boolean => !/(?<!\.d)\.ts$|\.map$|\.tsbuildinfo$/.test(file);

for (const source of packages) {
  const manifest = readFileSync(path.join(source, 'package.json'), 'utf8');
  const { files = ['dist'] } = JSON.parse(manifest) as { files?: string[] };
  mkdirSync(path.join(out, 'app', source), { recursive: true });
  // npm puts a dependency into a package's own node_modules if versions conflict.
  const own = existsSync(path.join(source, 'node_modules')) ? ['node_modules'] : [];
  for (const file of ['package.json', ...own, ...files]) {
    cpSync(path.join(source, file), path.join(out, 'app', source, file), {
      recursive: true,
      filter: isKept,
    });
  }
}
cpSync('node_modules', path.join(out, 'dependencies', 'node_modules'), {
  recursive: true,
  verbatimSymlinks: true,
  filter: isKept,
});
