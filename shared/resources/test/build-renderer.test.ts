import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { pinnedFile } from '../scripts/build-renderer.js';
import { referencePage, readRenderer } from '../src/openapi/reference.js';

const wrong = `sha512-${'A'.repeat(86)}==`;

describe('The renderer of the reference', () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(path.join(tmpdir(), 'pinned-'));
    writeFileSync(path.join(directory, 'package.json'), '{ "name": "pinned", "version": "1.0.0" }');
    writeFileSync(path.join(directory, 'script.js'), 'run();');
  });
  after(() => rmSync(directory, { recursive: true }));

  const read = (integrity: string): string =>
    pinnedFile({ package: 'pinned', version: `file:${directory}`, integrity, file: 'script.js' }).toString();

  /** Extracts the actual integrity of the package from the error message. */
  const actual = (): string => {
    try {
      return read(wrong);
    } catch (error) {
      return /integrity (sha512-\S+),/.exec(String(error))?.[1] ?? '';
    }
  };

  it('comes from the pinned package', () => {
    expect(read(actual())).to.equal('run();');
  });

  it('is not built from a package with another content than the pinned one', () => {
    const pinned = actual();
    writeFileSync(path.join(directory, 'script.js'), 'steal();');
    expect(() => read(pinned)).to.throw(`but scalar.json pins ${pinned}`);
  });

  it('is part of the published package', () => {
    const folder = fileURLToPath(new URL('..', import.meta.url));
    const listed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(listed).to.contain('"assets/scalar.js.br"').and.not.contain('"scripts/');
  });

  it('leaves a page that says what to run if it was not built', () => {
    const missing = readRenderer(new URL('missing.js.br', import.meta.url));
    const { status, body } = referencePage('Shop', 'https://example.com/api/v1', missing);
    expect(status).to.equal(503);
    expect(body)
      .to.contain('run <code>make build</code>')
      .and.contain('href="/api/v1/openapi.json"')
      .and.not.contain('<script');
  });
});
