import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from 'chai';
import { eventually } from '../system/eventually.js';
import { freePort } from '../system/service.js';
import { type Answer, type Consumer, execute } from './consumer.js';

/** Defines the tests of an application created by `npm create longshore` inside the consumer's folder. */
export function testCreatedApplication(consumer: () => Consumer): void {
  describe('an application made by create-longshore', () => {
    let directory: string;
    let address: Readonly<Record<string, string>>;
    let dev: ChildProcess;
    let output = '';

    const bin = (name: string): string => path.join(consumer().directory, 'node_modules/.bin', name);
    const longshore = (...args: string[]): Promise<Answer> =>
      execute(bin('longshore'), args, address, directory);

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
        env: { ...process.env, NODE_OPTIONS: '', DATABASE_URL: '', WORKER_CONCURENCY: '3' },
      });
      dev.stdout?.on('data', (data: Buffer) => (output += data.toString()));
      dev.stderr?.on('data', (data: Buffer) => (output += data.toString()));
      await eventually(() => Promise.resolve(output.includes('Longshore is up')), 90_000).catch(() => {
        throw new Error(output);
      });
    });
    after(() => void dev?.kill('SIGKILL'));

    it('does not overwrite an existing one', async () => {
      const again = await execute(bin('create-longshore'), ['my-app'], {}, consumer().directory);
      expect(again.ok).to.equal(false);
      expect(again.text).to.include('my-app is not empty');
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

    it('restarts when a file is saved', async () => {
      const file = path.join(directory, 'src/jobs/count-customers.ts');
      await writeFile(file, (await readFile(file, 'utf8')).replace('There are', 'We have'));
      await eventually(() => Promise.resolve(output.split('Longshore is up').length > 2), 60_000);
      expect((await longshore('enqueue', 'count-customers', '--wait')).text).to.include(
        'We have 0 customers',
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
        await codeOf('--help'),
      ];
      expect(codes).to.deep.equal([0, 1, 1, 2, 2, 0]);
    });

    it('stops on Ctrl-C, including its Postgres', async () => {
      const ended = once(dev, 'close');
      dev.kill('SIGINT');
      expect(await ended).to.deep.equal([0, null]);
    });
  });
}
