import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { house } from './house.js';

const breaches: readonly [file: string, imported: string, why: RegExp][] = [
  ['shared/jobs/src', '@longshore/jobs-postgres', /imports no sibling/],
  ['shared/jobs/src', 'koa', /neither HTTP nor SQL/],
  ['shared/jobs/src', '@koa/router', /neither HTTP nor SQL/],
  ['shared/jobs/src', 'pg', /neither HTTP nor SQL/],
  ['shared/jobs-postgres/src', '@longshore/resources', /one storage of jobs/],
  ['shared/jobs-postgres/src', '@longshore/jobs-storage-tests', /one storage of jobs/],
  ['shared/jobs-storage-tests/src', '@longshore/jobs-postgres', /any storage/],
  ['shared/resources/src', '@longshore/jobs', /knows no jobs/],
  ['shared/jobs-api/src', '@longshore/jobs-postgres', /whatever the storage/],
  ['shared/jobs-api/src', 'pg', /storage contract/],
  ['shared/jobs-dashboard/src', '@longshore/resources', /any Koa application can mount it/],
  ['shared/jobs-dashboard/src', 'pg', /storage contract/],
  ['shared/service/src', '@longshore/jobs-postgres', /no storage and no application/],
  ['shared/example-shop/src', '@longshore/service', /an application like any other/],
  ['shared/local-postgres/src', '@longshore/jobs', /knows nothing of what is kept/],
  ['shared/test-support/src', '@longshore/jobs', /serves the tests of every package/],
  ['shared/jobs/test', '@longshore/api', /Nothing imports a service/],
  ['services/api/src', '@longshore/worker', /imports no other service/],
  ['services/worker/src', '@longshore/test-support', /made for tests or development/],
  ['bench/src', '@longshore/api', /nothing imports a service/],
  ['dev/src', '@longshore/service', /starts the services as processes/],
  ['acceptance/test', '@longshore/jobs', /tests from outside/],
  ['acceptance/test', '../../shared/jobs/package.json', /tests from outside/],
  ['services/api/src', '@longshore/jobs/src/index.js', /what a package exports/],
  ['services/api/src', '@longshore/jobs/dist/index.js', /what a package exports/],
  ['shared/jobs/test', '@longshore/resources/src/index.js', /what a package exports/],
  ['services/api/src', '../../../shared/jobs/src/index.js', /must not leave its package/],
  ['shared/jobs/test', '../../resources/src/index.js', /must not leave its package/],
];

const allowed: readonly [file: string, imported: string][] = [
  ['shared/jobs/src', '../job/job.js'],
  ['shared/jobs/test', '../src/index.js'],
  ['shared/jobs/test', '@longshore/test-support'],
  ['shared/jobs-postgres/test', '@longshore/jobs-storage-tests'],
  ['shared/jobs-postgres/src', '@longshore/jobs/storage'],
  ['shared/jobs-dashboard/src', '@longshore/jobs/storage'],
  ['services/api/src', '@longshore/jobs/storage'],
  ['shared/jobs-postgres/src', 'pg'],
  ['shared/jobs-api/src', '@longshore/resources'],
  ['shared/example-shop/src', '@longshore/service/application'],
  ['services/api/src', '@longshore/jobs-postgres'],
];

/** Lints one file a case, each in its place of a tree that has the house's rules; gives the messages for each case. */
async function lint(cases: readonly (readonly [string, string, ...unknown[]])[]): Promise<string[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'longshore-lint-'));
  try {
    await cp(path.join(house, '.oxlintrc.json'), path.join(root, '.oxlintrc.json'));
    const files = cases.map(([folder], index) => path.join(folder, `case-${index}.ts`));
    for (const [index, [folder, imported]] of cases.entries()) {
      await mkdir(path.join(root, folder), { recursive: true });
      const line = `import { anything } from '${imported}';\nexport const used = anything;\n`;
      await writeFile(path.join(root, files[index] ?? ''), line);
    }
    const oxlint = path.join(house, 'node_modules/.bin/oxlint');
    const child = spawn(oxlint, ['--format=json'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const report = JSON.parse(await text(child.stdout)) as {
      diagnostics: { filename: string; help: string }[];
    };
    return files.map((file) =>
      report.diagnostics
        .filter(({ filename }) => filename === file)
        .map(({ help }) => help)
        .join('\n'),
    );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe('the import rules', () => {
  let messages: string[];
  before(async () => {
    messages = await lint([...breaches, ...allowed]);
  });

  for (const [index, [folder, imported, why]] of breaches.entries()) {
    it(`refuse ${imported} in ${folder} and say why`, () => {
      expect(messages[index]).to.match(why);
    });
  }

  for (const [index, [folder, imported]] of allowed.entries()) {
    it(`allow ${imported} in ${folder}`, () => {
      expect(messages[breaches.length + index]).to.equal('');
    });
  }
});
