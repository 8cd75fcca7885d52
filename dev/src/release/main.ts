/**
 * Implements `make release` and the steps of the release workflow:
 *
 *     node dev/dist/release/main.js prepare VERSION [--dry-run]
 *     node dev/dist/release/main.js order DIRECTORY
 *     node dev/dist/release/main.js notes VERSION
 */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { sectionOf } from './changelog.js';
import { prepareRelease } from './prepare.js';
import { publishingOrder } from './publish.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'dry-run': { type: 'boolean', default: false } },
});
const [step, subject] = positionals;
const dryRun = values['dry-run'];
const print = (text: string): void => void process.stdout.write(`${text}\n`);

try {
  if (!subject) throw new Error('Give a version or a directory: make release VERSION=1.2.3');
  else if (step === 'prepare') await prepare(subject);
  else if (step === 'order') print((await publishingOrder(await tarballsIn(subject))).join('\n'));
  else if (step === 'notes')
    print(sectionOf(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8'), subject));
  else throw new Error(`There is no step "${step}"`);
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 1;
}

async function prepare(version: string): Promise<void> {
  const date = new Date().toISOString().slice(0, 10);
  print(await prepareRelease(root, version, { date, dryRun }));
  print(
    dryRun
      ? `\nNothing was changed. Without --dry-run, this would be committed and tagged as v${version}.`
      : `\nCommitted and tagged. Publish it with: git push origin main v${version}`,
  );
}

async function tarballsIn(directory: string): Promise<string[]> {
  const files = (await readdir(directory)).filter((file) => file.endsWith('.tgz'));
  if (files.length === 0) throw new Error(`There are no tarballs in ${directory}: run make pack`);
  return files.map((file) => path.resolve(directory, file));
}
