import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { ConsoleSession } from '../docs/console-session.js';
import { eventually } from '@longshore/test-support';
import { house } from '../house/house.js';
import type { Postgres } from '../system/postgres.js';
import { freePort, patience } from '../system/service.js';
import { type Answer, type Consumer, execute } from './consumer.js';

/** Defines the tests of an application that `create-longshore` creates in the consumer's folder. */
export function testCreatedApplication(consumer: () => Consumer, postgres: () => Postgres): void {
  describe('an application made by create-longshore', () => {
    let directory: string;
    let address: Readonly<Record<string, string>>;
    let dev: ChildProcess;
    let output = '';

    const bin = (name: string): string => path.join(consumer().directory, 'node_modules/.bin', name);
    const longshore = (...args: string[]): Promise<Answer> =>
      execute(bin('longshore'), args, address, directory);

    /**
     * Runs documented commands and resolves to their output. Uses this test's address instead of the documented one.
     */
    const typed = (command: string): Promise<string> =>
      new ConsoleSession(
        { 'http://localhost:8080': address['LONGSHORE_URL'] ?? '' },
        { cwd: directory, env: { ...address, PATH: `${bin('')}:${process.env['PATH']}` } },
      ).outputOf(command);

    /** Calls `save` to change files, and resolves once `longshore dev` has restarted. */
    const restarted = async (save: () => Promise<void>): Promise<void> => {
      const before = output.length;
      await save();
      await eventually(
        () => output.slice(before),
        (said) => {
          const restart = said.lastIndexOf('has changed: restarting');
          return restart >= 0 && said.lastIndexOf('Longshore is up') > restart;
        },
      );
    };

    before(async () => {
      directory = path.join(consumer().directory, 'my-app');
      const made = await execute(
        bin('create-longshore'),
        ['my-app', '--no-install'],
        {},
        consumer().directory,
      );
      expect(made.ok, made.text).to.equal(true);
      const port = String(await freePort());
      address = { LONGSHORE_URL: `http://localhost:${port}` };
      dev = spawn(bin('longshore'), ['dev', 'src/application.ts', '--port', port], {
        cwd: directory,
        env: {
          ...process.env,
          ...patience,
          WORKER_STOP_TIMEOUT_MS: '1000', // the default of longshore dev
          NODE_OPTIONS: '',
          DATABASE_URL: '',
          WORKER_CONCURENCY: '3',
        },
      });
      dev.stdout?.on('data', (data: Buffer) => (output += data.toString()));
      dev.stderr?.on('data', (data: Buffer) => (output += data.toString()));
      await eventually(
        () => output,
        (text) => text.includes('Longshore is up'),
      );
    });
    after(() => void dev?.kill('SIGKILL'));

    it('does not overwrite an existing one', async () => {
      const again = await execute(bin('create-longshore'), ['my-app'], {}, consumer().directory);
      expect(again.ok).to.equal(false);
      expect(again.text).to.include('my-app is not empty');
    });

    it('is created in the current directory, too', async () => {
      const here = path.join(consumer().directory, 'here');
      await mkdir(here);
      const { ok, text } = await execute(bin('create-longshore'), ['.', '--no-install'], {}, here);
      expect(ok, text).to.equal(true);
      expect(text).to.include('Created here. Next:\n\n  npm install\n  npm run dev');
      expect((await execute(bin('create-longshore'), ['--version'], {}, here)).text).to.match(
        /^\d+\.\d+\.\d+/,
      );
      expect((await execute(bin('create-longshore'), ['--help'], {}, here)).text).to.include('--no-install');
    });

    it('type-checks and passes its tests', async () => {
      for (const script of ['check', 'test']) {
        const { ok, text } = await execute('npm', ['run', script], {}, directory);
        expect(ok, text).to.equal(true);
      }
    });

    it('runs a job from the command line, and shows its log and result', async () => {
      const { ok, text } = await longshore('enqueue', 'count-customers', '--wait');
      expect(ok, text).to.equal(true);
      expect(text).to.match(/info There are 0 customers\ndone {"count":0}\n$/);
    });

    it('lists jobs as a table or as JSON', async () => {
      expect((await longshore('jobs', '--name', 'count-customers')).text).to.match(/^ID +NAME +QUEUE +STATE/);
      const { text } = await longshore('recurring', '--json');
      expect(JSON.parse(text)).to.have.nested.property('[0].id', 'count-customers-every-morning');
    });

    it('shows, cancels, retries and follows one job, and lists queues', async () => {
      const made = await longshore('enqueue', 'count-customers', '--delay-ms', '3600000', '--json');
      const { id } = JSON.parse(made.text) as { id: string };
      expect((await longshore('job', id)).text).to.match(/^state +scheduled$/m);
      expect((await longshore('cancel', id)).text).to.match(new RegExp(`^${id} .* cancelled`, 'm'));
      expect((await longshore('retry', id)).ok).to.equal(true);
      const followed = await longshore('logs', id, '--follow');
      expect(followed.text, followed.text).to.match(/info There are 0 customers\ndone {"count":0}\n$/);
      expect((await longshore('queues')).text).to.match(/^NAME +ENQUEUED.*\ndefault /);
    });

    it('runs the job and the test of the quick start', async () => {
      const page = await readFile(path.join(house, 'docs/quick-start.md'), 'utf8');
      const blocks = [...page.matchAll(/`((?:src|test)\/[\w./-]+)`:\n\n```ts\n(.*?)^```$/gms)];
      expect(blocks).to.have.length(3);
      await restarted(async () => {
        for (const [, file = '', text = ''] of blocks) await writeFile(path.join(directory, file), text);
      });
      for (const script of ['check', 'test']) {
        const { ok, text } = await execute('npm', ['run', script], {}, directory);
        expect(ok, text).to.equal(true);
      }
      const commands = [...page.matchAll(/^npx (longshore .*)$/gm)];
      expect(commands).to.have.length(2);
      const outputs = await Promise.all(commands.map(([, command = '']) => typed(command)));
      expect(outputs[0]).to.match(/info There are 0 customers\ndone {"count":0}\n$/);
      expect(outputs[1]).to.match(/info Greeting Ada\ndone {"greeting":"Hello, Ada!"}\n$/);
    });

    it('runs jobs in a program that has only installed longshore, as in the quick start', async () => {
      const page = await readFile(path.join(house, 'docs/quick-start.md'), 'utf8');
      const [, text = ''] = /^```js\n(.*?)^```$/ms.exec(page) ?? [];
      const end = `
const events = new JobEvents(storage);
const [job] = await storage.jobs.list({ filter: { name: ['greet'] }, limit: 1 });
console.log((await events.waitForEnd(job.id, 3_600_000)).state);
process.exit();`;
      const program = text.replace('import { ', 'import { JobEvents, ') + end;
      await restarted(() => writeFile(path.join(directory, 'src/program.js'), program));
      const answer = await consumer().node(
        ['--import', 'tsx', 'src/program.js'],
        { DATABASE_URL: postgres().url },
        directory,
      );
      expect(answer.text).to.equal('done\n');
    });

    it('runs the commands of its README', async () => {
      const readme = await readFile(path.join(directory, 'README.md'), 'utf8');
      const [, , calls = ''] = Array.from(readme.matchAll(/^```sh\n(.*?)^```$/gms), ([, text]) => text);
      const [create = '', welcome = '', list = ''] = calls.trim().split('\n');
      const { id } = JSON.parse(await typed(create)) as { id: string };
      await typed(welcome.replace('ID', id));
      expect(await typed(list.replace('npx ', ''))).to.match(/ send-welcome +default /);
    });

    it('writes example rows to the Postgres of longshore dev', async () => {
      const args = ['seed', 'src/application.ts', '--rows', '7'];
      const { ok, text } = await execute(bin('longshore'), args, { DATABASE_URL: '' }, directory);
      expect(ok, text).to.equal(true);
      expect(text).to.include('Using the Postgres of longshore dev, .longshore/postgres');
      const response = await fetch(`${address['LONGSHORE_URL']}/api/v1/customers`);
      expect(await response.json()).to.have.length(7);
    });

    it('shows an example for each command', async () => {
      const { text } = await longshore('--help');
      const [, commands = ''] = /^Commands:\n(.*?)\n\n/ms.exec(text) ?? [];
      const all = [...commands.matchAll(/^ {2}([a-z-]+) /gm)].map(([, name = '']) => name);
      const names = all.filter((name) => name !== 'help');
      expect(names).to.include.members(['dev', 'enqueue', 'queues', 'keys', 'completion']);
      for (const name of names)
        expect((await longshore(name, '--help')).text, name).to.match(/Example: .*longshore /);
    });

    it('migrates a database, creates a key there, and runs each service', async () => {
      const env = { DATABASE_URL: postgres().url, LONGSHORE_APP: './src/application.ts', NODE_OPTIONS: '' };
      const migrated = await execute(bin('longshore'), ['migrate'], env, directory);
      expect(migrated.ok, migrated.text).to.equal(true);
      const terms = ['--name', 'billing', '--scopes', 'read'];
      const key = await execute(bin('longshore'), ['create-key', ...terms], env, directory);
      expect(key.text).to.match(/^lsk_\S+$/m);
      for (const role of ['api', 'worker', 'dashboard']) {
        const port = String(await freePort());
        const all = { ...process.env, ...patience, ...env, PORT: port };
        const service = spawn(bin('longshore'), [role], { cwd: directory, env: all, stdio: 'ignore' });
        const ended = once(service, 'close');
        await eventually(
          async () => (await fetch(`http://127.0.0.1:${port}/readyz`)).status,
          (status) => status === 200,
        );
        service.kill('SIGTERM');
        expect(await ended, role).to.deep.equal([0, null]);
      }
    });

    it('restarts when a file is saved', async () => {
      const file = path.join(directory, 'src/jobs/count-customers.ts');
      await restarted(async () =>
        writeFile(file, (await readFile(file, 'utf8')).replace('There are', 'We have')),
      );
      expect((await longshore('enqueue', 'count-customers', '--wait')).text).to.match(
        /We have \d+ customers/,
      );
    });

    it('warns about a misspelt variable and suggests the right name', () => {
      expect(output).to.include('WORKER_CONCURENCY has no effect');
      expect(output).to.include('Did you mean WORKER_CONCURRENCY?');
    });

    it('has exit codes for wrong arguments and for failures', async () => {
      const codeOf = async (...args: string[]): Promise<number> => {
        const child = spawn(bin('longshore'), args, { cwd: directory, env: { ...process.env, ...address } });
        const [code] = (await once(child, 'close')) as [number];
        return code;
      };
      const codes = [
        await codeOf('queues'),
        await codeOf('enqueue', 'no-such-job'),
        await codeOf('job', '00000000-0000-7000-8000-000000000000'),
        await codeOf('enqueue', 'count-customers', '{wrong'),
        await codeOf('no-such-command'),
        await codeOf('job', 'no-id'),
        await codeOf('queues', '--url', 'localhost'),
        await codeOf('worker'),
        await codeOf('--help'),
      ];
      expect(codes).to.deep.equal([0, 1, 1, 2, 2, 2, 1, 2, 0]);
    });

    it('stops on Ctrl-C, including its Postgres', async () => {
      const ended = once(dev, 'close');
      dev.kill('SIGINT');
      expect(await ended).to.deep.equal([0, null]);
    });
  });
}
