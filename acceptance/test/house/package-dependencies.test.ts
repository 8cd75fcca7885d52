import path from 'node:path';
import { builtinModules } from 'node:module';
import { expect } from 'chai';
import { readSource, sourceFiles } from './house.js';

interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/**
 * Packages of this repository that each package may depend on. An unlisted package may depend on every package except
 * the services. A package can import only what it declares, so this list determines the direction of all imports.
 */
const siblings: Readonly<Record<string, readonly string[]>> = {
  // Depends on no other package, so any process can embed it and any storage can implement its interfaces.
  'shared/jobs': [],
  // Depends on no other package, because it is a toolkit for any domain.
  // Every package may import it, so it imports none.
  'shared/edge': [],
  'shared/resources': [],
  // Published as `longshore`: the jobs, with their Postgres storage.
  'shared/jobs-postgres': ['@longshore/jobs'],
  'shared/jobs-api': ['@longshore/jobs', '@longshore/resources'],
  // Depends only on the jobs package, so any Koa application can mount it.
  'shared/jobs-dashboard': ['@longshore/jobs'],
  // Works with every storage and every application, so it depends on no storage package and no application.
  'shared/service': ['@longshore/jobs', '@longshore/resources'],
  'shared/example-shop': ['@longshore/jobs', '@longshore/resources', '@longshore/service'],
  'shared/local-postgres': [],
  // Starts the services, and sends requests to a running installation; its commands are those of the declared operations.
  'services/cli': [
    '@longshore/api',
    '@longshore/dashboard',
    '@longshore/jobs',
    '@longshore/local-postgres',
    '@longshore/service',
    '@longshore/worker',
  ],
  // The tests of other packages use this package, so it depends on as few packages as possible.
  'shared/test-support': ['@longshore/local-postgres'],
  // `dev` starts the services as processes, so it depends on none of them.
  dev: ['@longshore/local-postgres', '@longshore/service'],
  // Tests the services only from outside.
  acceptance: [],
};

/** The package that every other one may import. */
const edge = '@longshore/edge';

/** For each package, a pattern of the libraries that it must not use. */
const libraries: Readonly<Record<string, RegExp>> = {
  // Uses neither HTTP nor SQL.
  'shared/jobs': /koa|^pg\b|node-pg-migrate/,
  // Works with every storage.
  'shared/jobs-api': /^pg\b|node-pg-migrate/,
  'shared/jobs-dashboard': /^pg\b|node-pg-migrate/,
};

const importPattern = /(?:\bfrom |^import |\bimport\()'([\w@][\w@./:-]*)'/gm;

/**
 * Returns the packages that a source file imports, such as `@koa/router` for `@koa/router/x`. Leaves out built-in
 * modules.
 */
function importedPackages(text: string): string[] {
  const names = [...text.matchAll(importPattern)].map(([, specifier = '']) =>
    specifier
      .split('/')
      .slice(0, specifier.startsWith('@') ? 2 : 1)
      .join('/'),
  );
  return names.filter((name) => !name.startsWith('node:') && !builtinModules.includes(name));
}

/** Returns the names in the braces of an import or export. */
function namesIn(list: string): string[] {
  return list.split(',').flatMap((name) => {
    const bare = name.trim().replace(/^type /, '');
    return bare === '' ? [] : [bare];
  });
}

/** Returns the packages that a package needs at run time, including peer dependencies. */
function neededBy({ dependencies, peerDependencies }: Manifest): Readonly<Record<string, string>> {
  return { ...dependencies, ...peerDependencies };
}

/** Returns the run-time dependencies that a package declares but must not have. */
function forbidden(folder: string, manifest: Manifest, services: readonly string[]): string[] {
  const allowed = siblings[folder];
  return Object.keys(neededBy(manifest)).filter((name) =>
    name.startsWith('@longshore/')
      ? allowed === undefined
        ? services.includes(name)
        : !allowed.includes(name) && (name !== edge || folder === 'shared/edge')
      : libraries[folder]?.test(name),
  );
}

describe('the packages', () => {
  let files: string[];
  const manifests = new Map<string, Manifest & { readonly name: string }>();
  before(async () => {
    files = await sourceFiles();
    for (const file of files.filter((each) => /^(?:(?:services|shared)\/)?[^/]+\/package\.json$/.test(each)))
      manifests.set(
        path.dirname(file),
        JSON.parse(await readSource(file)) as Manifest & { readonly name: string },
      );
  });

  it('declare every package that they import, because an image holds only what is declared', async () => {
    const undeclared: string[] = [];
    for (const [folder, manifest] of manifests) {
      const dependencies = neededBy(manifest);
      const sources = files.filter((source) => source.startsWith(`${folder}/src/`) && source.endsWith('.ts'));
      const imported = new Set((await Promise.all(sources.map(readSource))).flatMap(importedPackages));
      undeclared.push(
        ...[...imported].filter((name) => !(name in dependencies)).map((name) => `${folder}: ${name}`),
      );
    }
    expect(undeclared).to.deep.equal([]);
  });

  it('depend on each other in one direction only', () => {
    const services = [...manifests]
      .filter(([folder]) => folder.startsWith('services/'))
      .map(([, { name }]) => name);
    const found = [...manifests].flatMap(([folder, manifest]) =>
      forbidden(folder, manifest, services).map((name) => `${folder}: ${name}`),
    );
    expect(manifests.size).to.be.at.least(15);
    expect(found).to.deep.equal([]);
  });

  it('(an import is seen in each of its forms)', () => {
    const text =
      "import a from 'a';\nexport * from '@b/c/d';\nconst e = await import('e');\nimport 'f';\nimport 'node:fs';";
    expect(importedPackages(text)).to.deep.equal(['a', '@b/c', 'e', 'f']);
  });

  it('(a dependency in the wrong direction is seen)', () => {
    const depending = (name: string): Manifest => ({ dependencies: { [name]: '*' } });
    expect(forbidden('shared/resources', depending('@longshore/jobs'), [])).to.deep.equal([
      '@longshore/jobs',
    ]);
    expect(forbidden('shared/edge', depending('@longshore/jobs'), [])).to.deep.equal(['@longshore/jobs']);
    expect(forbidden('shared/jobs', depending('@longshore/edge'), [])).to.deep.equal([]);
    expect(forbidden('shared/jobs', depending('@koa/router'), [])).to.deep.equal(['@koa/router']);
    expect(forbidden('bench', depending('@longshore/api'), ['@longshore/api'])).to.deep.equal([
      '@longshore/api',
    ]);
    expect(forbidden('shared/jobs-postgres', depending('pg'), [])).to.deep.equal([]);
  });

  it('import the parts of `longshore` from the package that defines them', async () => {
    const entry = await readSource('shared/jobs-postgres/src/index.ts');
    const storage = new Set(
      [...entry.matchAll(/^export (?:type )?\{([^}]*)\}/gm)].flatMap(([, names = '']) => namesIn(names)),
    );
    const sources = files.filter((file) =>
      /^(?:shared|services|dev|bench)\/(?!create-longshore).*\.ts$/.test(file),
    );
    const elsewhere: string[] = [];
    for (const file of sources) {
      const text = await readSource(file);
      for (const [, names = ''] of text.matchAll(/^import (?:type )?\{([^}]*)\} from 'longshore';/gm))
        elsewhere.push(
          ...namesIn(names)
            .filter((name) => !storage.has(name))
            .map((name) => `${file}: ${name}`),
        );
    }
    expect(storage).to.include('PostgresStorage');
    expect(elsewhere).to.deep.equal([]);
  });
});
