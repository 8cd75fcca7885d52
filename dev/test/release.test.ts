import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { sectionOf, withRelease } from '../src/release/changelog.js';
import { prepareRelease } from '../src/release/prepare.js';
import { inOrder } from '../src/release/publish.js';
import { checkFollows, npmTagOf } from '../src/release/version.js';

const changelog = `# Changelog

## Unreleased

### Jobs

- A second feature.

## 1.0.0 - 2026-01-01

- The first release.
`;

describe('A release', () => {
  it('has the unreleased changes as its notes, and leaves an empty section', () => {
    const released = withRelease(changelog, '1.1.0', '2027-01-31');
    expect(released).to.include('## Unreleased\n\n## 1.1.0 - 2027-01-31\n\n### Jobs');
    expect(sectionOf(released, '1.1.0')).to.equal('### Jobs\n\n- A second feature.');
    expect(() => withRelease(released, '1.2.0', '2027-02-01')).to.throw('lists no unreleased changes');
  });

  it('must have a version that follows the current one', () => {
    const ascending = ['0.9.9', '1.0.0-alpha.1', '1.0.0-beta.2', '1.0.0-beta.10', '1.0.0', '1.0.1', '1.10.0'];
    for (const [index, version] of ascending.slice(1).entries()) {
      checkFollows(version, ascending[index] ?? '');
      expect(() => checkFollows(ascending[index] ?? '', version)).to.throw('does not follow');
    }
    for (const version of ['1.0', 'v1.0.0', '01.0.0', '1.0.0-beta'])
      expect(() => npmTagOf(version)).to.throw('is not a version');
    expect([npmTagOf('1.0.0'), npmTagOf('1.0.0-beta.1')]).to.deep.equal(['latest', 'beta']);
  });

  it('publishes packages after those that they depend on', () => {
    const tarball = (name: string, ...needs: string[]) => ({ file: '', name, version: '1.0.0', needs });
    const sorted = inOrder([tarball('api', 'jobs', 'koa'), tarball('jobs'), tarball('a', 'api')]);
    expect(sorted.map(({ name }) => name)).to.deep.equal(['jobs', 'api', 'a']);
  });

  describe('in a repository', () => {
    let root: string;
    const git = async (...args: string[]): Promise<string> =>
      (
        await promisify(execFile)('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.org', ...args], {
          cwd: root,
        })
      ).stdout;

    beforeEach(async () => {
      root = await mkdtemp(path.join(tmpdir(), 'longshore-release-'));
      await writeFile(path.join(root, 'CHANGELOG.md'), changelog);
      await writeFile(path.join(root, 'package.json'), JSON.stringify({ name: 'a', version: '1.0.0' }));
      await git('init', '--quiet');
      await git('add', '.');
      await git('commit', '--quiet', '--message', 'Begin');
    });

    afterEach(() => rm(root, { recursive: true }));

    it('is only described in a dry run', async () => {
      const notes = await prepareRelease(root, '1.1.0', { date: '2027-01-31', dryRun: true });
      expect(notes).to.include('A second feature');
      expect(await git('status', '--porcelain')).to.equal('');
      expect(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8')).to.equal(changelog);
    });

    it('sets the version of every package, and is committed and tagged', async () => {
      await git('config', 'user.name', 'a');
      await git('config', 'user.email', 'a@example.org');
      const manifest = { name: 'a', version: '1.0.0', workspaces: ['shared/*'] };
      await writeFile(path.join(root, 'package.json'), JSON.stringify(manifest));
      await mkdir(path.join(root, 'shared/b'), { recursive: true });
      const member = path.join(root, 'shared/b/package.json');
      await writeFile(member, JSON.stringify({ name: 'b', version: '1.0.0' }));
      const lock = { name: 'a', version: '1.0.0', lockfileVersion: 3, requires: true, packages: {} };
      await writeFile(path.join(root, 'package-lock.json'), JSON.stringify(lock));
      await writeFile(path.join(root, '.gitignore'), 'node_modules\n');
      const page = path.join(root, 'README.md');
      await writeFile(page, '# A\n\n> Longshore is not on npm yet: until then,\n> use make.\n\nUse npm.\n');
      await git('add', '.');
      await git('commit', '--quiet', '--message', 'Add a package');
      await prepareRelease(root, '1.1.0', { date: '2027-01-31', dryRun: false });
      for (const file of [member, path.join(root, 'package.json')])
        expect(JSON.parse(await readFile(file, 'utf8'))).to.have.property('version', '1.1.0');
      expect(await readFile(path.join(root, 'CHANGELOG.md'), 'utf8')).to.include('## 1.1.0 - 2027-01-31');
      expect(await readFile(page, 'utf8')).to.equal('# A\n\nUse npm.\n');
      expect(await git('status', '--porcelain')).to.equal('');
      expect(await git('log', '--max-count=1', '--format=%s')).to.equal('Release 1.1.0\n');
      expect(await git('describe', '--exact-match')).to.equal('v1.1.0\n');
    });

    it('is rejected while there are uncommitted changes', async () => {
      await writeFile(path.join(root, 'new'), '');
      const error: unknown = await prepareRelease(root, '1.1.0', { date: '2027-01-31', dryRun: true }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.have.property('message', 'Commit or stash your changes first');
    });
  });
});
