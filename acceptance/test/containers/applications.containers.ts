import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { house } from '../house/house.js';
import { eventually } from '@longshore/test-support';
import { getJob } from '../system/jobs.js';
import { up } from './compose.js';

const run = async (
  directory: string,
  env: Readonly<Record<string, string>>,
  command: string,
  ...args: string[]
): Promise<string> => {
  const options = { cwd: directory, env: { ...process.env, ...env }, maxBuffer: 1e8 };
  return (await promisify(execFile)(command, args, options)).stdout;
};

/** Writes a lock file for `npm ci`, without installing the dependencies. */
const lock = (directory: string): Promise<string> =>
  run(directory, {}, 'npm', 'install', '--package-lock-only', '--prefer-offline', '--no-audit', '--no-fund');

describe('An application in containers', function () {
  this.timeout(3_600_000);
  let directory: string;
  const write = async (file: string, text: string): Promise<void> => {
    await mkdir(path.dirname(path.join(directory, file)), { recursive: true });
    await writeFile(path.join(directory, file), text);
  };

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'longshore-container-'));
  });
  afterEach(() => rm(directory, { recursive: true }));

  it('starts from the image of the worker, as documented: npm ci adds its dependencies, and types are there', async () => {
    await run(house, {}, 'docker', 'build', '--target', 'worker', '--tag', 'longshore/worker', '.');
    const page = await readFile(path.join(house, 'docs/own-application.md'), 'utf8');
    await write('Dockerfile', /^```dockerfile\n(.*?)^```$/ms.exec(page)?.[1] ?? '');
    const manifest = {
      name: 'harbour',
      private: true,
      type: 'module',
      dependencies: { nanoid: '^5.1.5' },
      devDependencies: { typescript: '^5.9.3' },
    };
    await write('package.json', JSON.stringify(manifest));
    const compilerOptions = {
      module: 'nodenext',
      target: 'es2023',
      strict: true,
      skipLibCheck: true,
      types: [],
    };
    await write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
    await write(
      'src/application.ts',
      `import { defineApplication } from '@longshore/service/application';
       import { defineJob, handleJob } from 'longshore';
       import { nanoid } from 'nanoid';
       import Type from 'typebox';
       const name = defineJob({ name: 'name', args: Type.Object({ length: Type.Integer() }) });
       const handler = handleJob(name, ({ args }) => nanoid(args.length));
       export const application = defineApplication({ name: 'harbour', createHandlers: () => [handler] });`,
    );
    await lock(directory);
    await run(directory, {}, 'docker', 'build', '--tag', 'longshore-acceptance/harbour', '.');
    const program = `
      const { application } = await import(process.env.LONGSHORE_APP);
      const [{ definition }] = application.createHandlers({});
      const found = (name) => import.meta.resolve(name).split('/node_modules/')[0];
      console.log(definition.name, found('nanoid'), found('pg'), process.getuid());`;
    const image = ['--rm', '--read-only', 'longshore-acceptance/harbour'];
    const node = ['node', '--input-type=module', '--eval', program];
    const output = await run(directory, {}, 'docker', 'run', ...image, ...node);
    expect(output).to.equal('name file:///longshore/app file:///longshore 1000\n');
  });

  it('made by create-longshore starts with docker compose, and runs a job', async () => {
    await run(house, {}, process.execPath, 'dev/dist/pack/main.js', path.join(directory, 'packages'));
    await run(
      directory,
      {},
      process.execPath,
      path.join(house, 'shared/create-longshore/dist/main.js'),
      'my-app',
      '--no-install',
    );
    const app = path.join(directory, 'my-app');
    await cp(path.join(directory, 'packages'), path.join(app, 'packages'), { recursive: true });
    // Installs the packages from tarballs instead of the registry.
    const manifest = JSON.parse(await readFile(path.join(app, 'package.json'), 'utf8')) as Record<
      string,
      object
    >;
    const overrides: Record<string, string> = {};
    for (const file of await readdir(path.join(app, 'packages'))) {
      const packed = await run(app, {}, 'tar', '-xzOf', path.join('packages', file), 'package/package.json');
      overrides[(JSON.parse(packed) as { name: string }).name] = `file:./packages/${file}`;
    }
    for (const member of ['dependencies', 'devDependencies'])
      for (const name of Object.keys(manifest[member] ?? {}))
        if (name in overrides) Object.assign(manifest[member] ?? {}, { [name]: overrides[name] });
    await write('my-app/package.json', JSON.stringify({ ...manifest, overrides }));
    const dockerfile = await readFile(path.join(app, 'Dockerfile'), 'utf8');
    await write('my-app/Dockerfile', dockerfile.replace(/^RUN .*npm ci/m, 'COPY packages packages\n$&'));
    await lock(app);

    const key = /^COMPOSE_ADMIN_KEY=(.*)$/m.exec(await readFile(path.join(app, '.env'), 'utf8'))?.[1] ?? '';
    const env = { COMPOSE_PROJECT_NAME: 'longshore-created', API_PORT: '18090', DASHBOARD_PORT: '18091' };
    try {
      await up((...args) => run(app, env, 'docker', 'compose', ...args));
      const response = await fetch('http://localhost:18090/api/v1/jobs', {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'count-customers' }),
      });
      const location = response.headers.get('location') ?? '';
      const job = await eventually(
        () => getJob(location, { authorization: `Bearer ${key}` }),
        ({ state }) => state === 'done',
      );
      expect(job).to.have.deep.property('result', { count: 0 });
    } finally {
      await run(app, env, 'docker', 'compose', 'down', '--volumes');
    }
  });
});
