import path from 'node:path';
import { builtinModules } from 'node:module';
import { expect } from 'chai';
import { readSource, sourceFiles } from './house.js';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const importPattern = /(?:\bfrom |^import |\bimport\()'([\w@][\w@./:-]*)'/gm;

/** The packages that a text imports: `@koa/router` for `@koa/router/x`; Node's own are none. */
function importedPackages(text: string): string[] {
  const names = [...text.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  return names.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
}

describe('the packages', () => {
  it('declare every package that they import, because an image holds only what is declared', async () => {
    const files = await sourceFiles();
    const manifests = files.filter((file) => /^(services|shared)\/[^/]+\/package\.json$/.test(file));
    const undeclared: string[] = [];
    for (const file of manifests) {
      const folder = path.dirname(file);
      const { dependencies = {} } = JSON.parse(await readSource(file)) as Manifest;
      const sources = files.filter((source) => source.startsWith(`${folder}/src/`) && source.endsWith('.ts'));
      const imported = new Set((await Promise.all(sources.map(readSource))).flatMap(importedPackages));
      undeclared.push(
        ...[...imported].filter((name) => !(name in dependencies)).map((name) => `${folder}: ${name}`),
      );
    }
    expect(undeclared).to.deep.equal([]);
  });

  it('(an import is seen in each of its forms)', () => {
    const text =
      "import a from 'a';\nexport * from '@b/c/d';\nconst e = await import('e');\nimport 'f';\nimport 'node:fs';";
    expect(importedPackages(text)).to.deep.equal(['a', '@b/c', 'e', 'f']);
  });
});
