import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { house } from './house.js';

const breaches: readonly [folder: string, imported: string, why: RegExp][] = [
  ['shared/example-shop/src', '@longshore/service', /an application like any other/],
  ['acceptance/test', '@longshore/jobs', /work from outside/],
  ['acceptance/test', '../../shared/jobs/package.json', /work from outside/],
  ['acceptance/fuzz/programs/src', 'longshore', /applications like any other/],
  ['shared/resources/src/query', '../definition/resource.js', /layers of resources/],
  ['shared/resources/src/definition', '../table/table-storage.js', /layers of resources/],
  ['shared/resources/src/pipeline/access', '../../koa/middleware.js', /layers of resources/],
  ['shared/resources/src/openapi', '../table/table-storage.js', /layers of resources/],
  ['services/api/src', '../../../shared/jobs/src/index.js', /must not leave its package/],
  ['shared/jobs/test', '../../resources/src/index.js', /must not leave its package/],
  ['acceptance/test', '../faults/src/index.js', /must not leave its package/],
];

const allowed: readonly [folder: string, imported: string][] = [
  ['shared/jobs/src', '../job/job.js'],
  ['shared/jobs/test', '../src/index.js'],
  ['acceptance/faults/programs/src', '@longshore/jobs'],
  ['shared/resources/src/table', '../pipeline/idempotency.js'],
  ['shared/example-shop/src', '@longshore/service/application'],
];

/** Two files that import types from each other. */
const cycle: readonly (readonly [file: string, source: string])[] = [
  ['shared/jobs/src/one.ts', "import type { Two } from './two.js';\nexport type One = Two | null;\n"],
  ['shared/jobs/src/two.ts', "import type { One } from './one.js';\nexport type Two = One[];\n"],
];

/** Lints files with the rules of this repository, and returns the messages. */
async function lint(files: readonly (readonly [file: string, source: string])[]): Promise<string[]> {
  const root = await mkdtemp(path.join(tmpdir(), 'longshore-lint-'));
  try {
    await cp(path.join(house, '.oxlintrc.json'), path.join(root, '.oxlintrc.json'));
    await cp(path.join(house, 'dev/lint'), path.join(root, 'dev/lint'), { recursive: true });
    for (const [file, source] of files) {
      await mkdir(path.dirname(path.join(root, file)), { recursive: true });
      await writeFile(path.join(root, file), source);
    }
    const oxlint = path.join(house, 'node_modules/.bin/oxlint');
    const child = spawn(oxlint, ['--format=json'], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
    const report = JSON.parse(await text(child.stdout)) as {
      diagnostics: { filename: string; message: string; help: string }[];
    };
    return files.map(([file]) =>
      report.diagnostics
        .filter(({ filename }) => filename === file)
        .map(({ message, help }) => `${message} ${help}`)
        .join('\n'),
    );
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe('the import rules', () => {
  const cases = [...breaches, ...allowed];
  let messages: string[];
  before(async () => {
    const files = cases.map(([folder, imported], index): [string, string] => [
      path.join(folder, `case-${index}.ts`),
      `import { anything } from '${imported}';\nexport const used = anything;\n`,
    ]);
    messages = await lint([...files, ...cycle]);
  });

  for (const [index, [folder, imported, why]] of breaches.entries()) {
    it(`reject ${imported} in ${folder} and say why`, () => {
      expect(messages[index]).to.match(why);
    });
  }

  for (const [index, [folder, imported]] of allowed.entries()) {
    it(`allow ${imported} in ${folder}`, () => {
      expect(messages[breaches.length + index]).to.equal('');
    });
  }

  it('reject files that import each other, even if only types', () => {
    for (const message of messages.slice(cases.length)) expect(message).to.match(/cycle/);
  });
});
