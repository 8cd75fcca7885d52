import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { sectionOf, withRelease } from './changelog.js';
import { checkFollows, npmTagOf } from './version.js';

const execute = promisify(execFile);

/** The pages that mention `npm create longshore` or `npm install longshore`. */
const pages = [
  'README.md',
  'docs/own-application.md',
  'docs/quick-start.md',
  'shared/create-longshore/README.md',
  'shared/jobs-postgres/README.md',
];

/** Matches the paragraph with which these pages say that this does not work yet. */
const notYet = /^> Longshore is not on npm yet.*\n(?:>.*\n)*\n/m;

/**
 * Prepares a release: sets the version of all packages, moves the unreleased changes into the version's section of the
 * changelog, removes what the pages say about the time before the first release, commits and tags. Does not push or publish. The workflow for the tag publishes the packages.
 *
 * @param root the repository
 * @param dryRun whether to check everything but change nothing
 * @returns the release notes
 * @throws {Error} if the version is invalid or not later than the current one, if there are uncommitted changes, or if
 *   the changelog lists no unreleased changes
 */
export async function prepareRelease(
  root: string,
  version: string,
  { date, dryRun }: { readonly date: string; readonly dryRun: boolean },
): Promise<string> {
  const git = async (...args: string[]): Promise<string> =>
    (await execute('git', args, { cwd: root })).stdout.trim();
  const { version: current } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {
    version: string;
  };
  npmTagOf(version);
  const tags = (await git('tag', '--list', 'v*')).split('\n').filter(Boolean);
  // The first release may use the version that the packages already have.
  if (tags.length > 0 || version !== current) checkFollows(version, current);
  if ((await git('status', '--porcelain')) !== '') throw new Error('Commit or stash your changes first');

  const file = path.join(root, 'CHANGELOG.md');
  const changelog = withRelease(await readFile(file, 'utf8'), version, date);
  const notes = sectionOf(changelog, version);
  if (dryRun) return notes;
  await writeFile(file, changelog);
  for (const page of pages) {
    const text = await readFile(path.join(root, page), 'utf8').catch(() => null);
    if (text !== null) await writeFile(path.join(root, page), text.replace(notYet, ''));
  }
  const all = ['--workspaces', '--include-workspace-root', '--no-git-tag-version', '--no-workspaces-update'];
  await execute('npm', ['version', version, ...all, '--allow-same-version'], { cwd: root });
  await execute('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit'], { cwd: root });
  await git('commit', '--all', '--message', `Release ${version}`);
  await git('tag', '--annotate', `v${version}`, '--message', `Longshore ${version}`);
  return notes;
}
