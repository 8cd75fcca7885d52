import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { house } from '../house/house.js';
import { testCreatedApplication } from './created-application.js';
import { eventually } from '@longshore/test-support';
import { type Postgres, startPostgres } from '../system/postgres.js';
import { freePort } from '../system/service.js';
import { testPrisma } from './prisma.js';
import { type Consumer, execute, installTarballs, installTools, textInTarball, tools } from './consumer.js';

const published = [
  'create-longshore',
  'longshore',
  '@longshore/api',
  '@longshore/cli',
  '@longshore/dashboard',
  '@longshore/edge',
  '@longshore/jobs',
  '@longshore/jobs-api',
  '@longshore/jobs-dashboard',
  '@longshore/local-postgres',
  '@longshore/resources',
  '@longshore/service',
  '@longshore/testing',
  '@longshore/worker',
];

/** Packages that provide a command and export nothing. */
const commands = new Set(['create-longshore', '@longshore/cli']);
const imported = published.filter((name) => !commands.has(name));

/** Matches a program in a README, followed by its output. */
const programBlock = /^```js\n(?<program>.*?)^```\n+```text\n(?<output>.*?)^```$/ms;

/** The application that some README programs load. */
const application = `
import { handleJob, defineJob } from 'longshore';
import Type from 'typebox';
const greet = defineJob({ name: 'greet', args: Type.Object({ name: Type.String() }) });
export const application = { name: 'my-app', createHandlers: () => [handleJob(greet, () => null)] };
`;

const tool = (name: string): string => path.join(tools, 'node_modules', name);

describe('the packages, installed from their tarballs', function () {
  this.timeout(3_600_000);
  let consumer: Consumer;
  let postgres: Postgres;
  const programs = new Map<string, { program: string; output: string }>();

  before(async () => {
    [consumer, postgres] = await Promise.all([installTarballs(), startPostgres(), installTools()]);
    await consumer.write('application.js', application);
    for (const [name, tarball] of consumer.tarballs) {
      const { groups } = programBlock.exec(await textInTarball(tarball, 'package/README.md')) ?? {};
      if (groups !== undefined)
        programs.set(name, { program: groups['program'] ?? '', output: groups['output'] ?? '' });
    }
  });
  after(async () => {
    await postgres?.remove();
    await consumer?.remove();
  });

  it('are these', () => {
    expect([...consumer.tarballs.keys()].toSorted()).to.deep.equal(published.toSorted());
  });

  it('contain a README and a licence, but no build information, source maps, sources or version ranges of siblings', async () => {
    for (const [name, tarball] of consumer.tarballs) {
      const { text } = await execute('tar', ['-tzf', tarball]);
      const files = text.trim().split('\n');
      expect(files, name).to.include.members(['package/README.md', 'package/LICENSE']);
      const unwanted = files.filter((file) =>
        /^(?!package\/template\/).*(\.map$|tsbuildinfo|(?<!\.d)\.ts$|\/test\/)/.test(file),
      );
      expect(unwanted, name).to.deep.equal([]);
      const manifest = JSON.parse(await textInTarball(tarball, 'package/package.json')) as {
        version: string;
        dependencies?: Record<string, string>;
        peerDependencies?: Record<string, string>;
      };
      const needed = Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies });
      for (const [sibling, range] of needed.filter(([each]) => published.includes(each)))
        expect(range, `${name} → ${sibling}`).to.equal(manifest.version);
    }
  });

  it('satisfy publint and attw', async () => {
    const { ok, text } = await execute(process.execPath, [
      path.join(tools, 'judge.mjs'),
      ...consumer.tarballs.values(),
    ]);
    expect(ok, text).to.equal(true);
    const findings = JSON.parse(text) as Record<string, readonly string[]>;
    expect(Object.keys(findings)).to.have.length(published.length);
    expect(Object.entries(findings).filter(([, found]) => found.length > 0)).to.deep.equal([]);
  });

  it('are installed once each', async () => {
    const { text } = await execute('npm', ['ls', '--all', '--json'], {}, consumer.directory);
    const copies = new Set([...text.matchAll(/"resolved": "(file:[^"]+)"/g)].map(([, file]) => file));
    expect(copies.size).to.equal(published.length);
    const found = await execute('find', [
      consumer.directory,
      '-path',
      '*/node_modules/*/node_modules/@longshore',
    ]);
    expect(found.text).to.equal('');
  });

  const compilers = {
    '5.4': ['typescript-5.4/bin/tsc', '--project'],
    // Skips the declarations of other packages, because the oldest and the newest compiler check them.
    '5.9': ['../check-declarations.mjs', tool('typescript-5.9')],
    '7': ['typescript-7/bin/tsc', '--project'],
  };
  for (const [version, [program = '', ...args]] of Object.entries(compilers)) {
    it(`type-check with TypeScript ${version}, their declarations included`, async () => {
      const imports = imported.map((name, index) => `import * as p${index} from '${name}';`);
      const more = [
        '@longshore/jobs/storage',
        'longshore/tracing',
        '@longshore/jobs-dashboard/request-origin',
        '@longshore/resources/connection-limit',
        '@longshore/service/application',
      ];
      imports.push(...more.map((name, index) => `import * as more${index} from '${name}';`));
      const source = (programs.get('longshore')?.program ?? '').replace(
        'process.env.DATABASE_URL',
        "process.env['DATABASE_URL'] ?? ''",
      );
      await consumer.write('every-package.ts', `${imports.join('\n')}\nexport {};\n`);
      await consumer.write('program.ts', source.replaceAll('job.', 'job?.'));
      const compilerOptions = {
        module: 'nodenext',
        target: 'es2022',
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        types: ['node'],
      };
      const files = ['every-package.ts', 'program.ts'];
      await consumer.write('tsconfig.json', JSON.stringify({ compilerOptions, files }));
      const { text } = await consumer.node([tool(program), ...args, consumer.directory]);
      const errors = text.split('\n').filter((line) => line.includes(': error TS'));
      // Ignores errors in pg-protocol, because its type declarations need a compiler newer than 5.4.
      expect(errors.filter((line) => !line.startsWith('node_modules/pg-protocol/'))).to.deep.equal([]);
    });
  }

  for (const name of imported.filter((each) => each !== '@longshore/resources')) {
    it(`${name} runs the program of its README, which prints the documented output`, async () => {
      const { program, output } = programs.get(name) ?? { program: '', output: '' };
      const file = await consumer.write(`readme-${name.replace(/\W+/g, '-')}.js`, program);
      const answer = await consumer.node([file], { DATABASE_URL: postgres.url });
      expect(answer.text).to.equal(output);
    });
  }

  for (const role of ['api', 'worker', 'dashboard']) {
    it(`@longshore/${role} is started by the command of its README`, async () => {
      const tarball = consumer.tarballs.get(`@longshore/${role}`) ?? '';
      const readme = await textInTarball(tarball, 'package/README.md');
      const [command = ''] = /^.*npx longshore .*$/m.exec(readme) ?? [];
      const port = String(await freePort());
      const service = spawn('bash', ['-c', command.replace('postgres://…', postgres.url)], {
        cwd: consumer.directory,
        env: { ...process.env, NODE_OPTIONS: '', PORT: port },
        stdio: 'ignore',
        detached: true,
      });
      const ended = once(service, 'close');
      try {
        await eventually(
          async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status,
          (status) => status === 200,
        );
      } finally {
        process.kill(-(service.pid ?? 0), 'SIGTERM');
        await ended;
      }
    });
  }

  testPrisma(
    () => consumer,
    () => postgres,
  );

  testCreatedApplication(
    () => consumer,
    () => postgres,
  );

  it('would be published after the packages that they depend on', async () => {
    const directory = path.dirname(consumer.tarballs.get('longshore') ?? '');
    const release = path.join(house, 'dev/dist/release/main.js');
    const { ok, text } = await consumer.node([release, 'order', directory]);
    expect(ok, text).to.equal(true);
    const names = text
      .trim()
      .split('\n')
      .map((line) => line.replace(/(?<=.)@.*/, ''));
    expect(names).to.have.members(published);
    expect(names.indexOf('@longshore/jobs')).to.be.lessThan(names.indexOf('longshore'));
  });

  it('are loaded by require in CommonJS', async () => {
    const program = programs.get('longshore')?.program ?? '';
    const lines = program.replaceAll(/^import (.*) from ('.*');$/gm, 'const $1 = require($2);');
    const body = lines.replace('const Type = require', 'const { default: Type } = require');
    const file = await consumer.write('program.cjs', `(async () => {\n${body}\n})();\n`);
    const answer = await consumer.node(['--disable-warning=ExperimentalWarning', file], {
      DATABASE_URL: postgres.url,
    });
    expect(answer.text).to.equal(programs.get('longshore')?.output);
  });

  for (const format of ['esm', 'cjs']) {
    it(`run and migrate in a single file that esbuild made (${format})`, async () => {
      const alone = await mkdtemp(path.join(tmpdir(), 'longshore-bundle-'));
      try {
        const program = programs.get('longshore')?.program ?? '';
        const imports = program.split('\n').filter((line) => line.startsWith('import '));
        const rest = program.split('\n').filter((line) => !line.startsWith('import '));
        const source = `${imports.join('\n')}\n(async () => {\n${rest.join('\n')}\n})();\n`;
        const entry = await consumer.write(`bundled-${format}.js`, source);
        const out = path.join(alone, format === 'esm' ? 'out.mjs' : 'out.cjs');
        const options = ['--bundle', '--platform=node', '--minify', '--keep-names', '--external:pg-native'];
        // Defines `require` for bundled CommonJS packages, because ES modules lack it.
        const banner = `--banner:js=import{createRequire}from'node:module';const require=createRequire(import.meta.url);`;
        const made = await execute(
          tool('esbuild/bin/esbuild'),
          [
            entry,
            ...options,
            `--format=${format}`,
            `--outfile=${out}`,
            ...(format === 'esm' ? [banner] : []),
          ],
          {},
          consumer.directory,
        );
        expect(made.ok, made.text).to.equal(true);
        const empty = postgres.url.replace(/\/[^/]*$/, `/bundle_${format}`);
        const create = `import pg from 'pg'; const client = new pg.Client(process.env.URL); await client.connect(); await client.query('create database bundle_${format}'); await client.end();`;
        await consumer.node(['--input-type=module', '--eval', create], { URL: postgres.url });
        const answer = await consumer.node([out], { DATABASE_URL: empty }, alone);
        expect(answer.text).to.equal(programs.get('longshore')?.output);
        expect(await readFile(out, 'utf8')).to.include('create table');
      } finally {
        await rm(alone, { recursive: true, force: true });
      }
    });
  }
});
