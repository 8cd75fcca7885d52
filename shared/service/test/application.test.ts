import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { defineJob, defineRecurringJob, handleJob, MemoryStorage } from '@longshore/jobs';
import { createLogger } from '../src/run-service.js';
import {
  type ApplicationParts,
  ConfigError,
  defineApplication,
  type LoadedApplication,
  loadApplication,
} from '../src/index.js';

const parts: ApplicationParts = {
  storage: new MemoryStorage(),
  database: {
    query: () => Promise.reject(new Error('unused')),
    connect: () => Promise.reject(new Error('unused')),
  },
  logger: createLogger('test', 'silent'),
};

const environment = { NODE_ENV: 'production', WORKER_RESULTS_DIR: '.' } as const;

describe('The application of a service', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'application-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const jobs = import.meta.resolve('@longshore/jobs');

  const load = async (source: string, variables: object = {}): Promise<LoadedApplication> => {
    const file = path.join(directory, 'application.mjs');
    await writeFile(file, `import { defineJob, defineRecurringJob, handleJob } from '${jobs}';\n${source}`);
    return loadApplication({ ...environment, LONGSHORE_APP: file, ...variables }, parts);
  };

  const problemOf = async (source: string, variables?: object): Promise<string> => {
    const error = await load(source, variables).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigError);
    return (error as ConfigError).message;
  };

  it('is loaded from a path', async () => {
    expect(await load(`export const application = { name: 'mine', createHandlers: () => [] };`)).to.include({
      name: 'mine',
    });
  });

  it('is rejected with the error if its module throws', async () => {
    const error = await load(`throw new TypeError('no such berth');`).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigError).with.property('message').that.contains('no such berth');
    expect(error).to.have.nested.property('cause.stack').that.contains('application.mjs');
  });

  it('is rejected if the module exports none, with what it should export', async () => {
    const error = await load('export const something = 1;').catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(ConfigError)
      .with.property('message')
      .that.contains('must export "application"');
  });

  it('is rejected by name if the module does not exist', async () => {
    const error = await loadApplication({ ...environment, LONGSHORE_APP: '@nobody/nothing' }, parts).catch(
      (thrown: unknown) => thrown,
    );
    expect(error).to.be.instanceOf(ConfigError).with.property('message').that.contains('@nobody/nothing');
  });

  const greet = handleJob(defineJob({ name: 'greet' }), () => null);
  const daily = defineRecurringJob({
    id: 'daily',
    definition: defineJob({ name: 'report' }),
    args: {},
    cron: '0 6 * * *',
  });

  it('is returned as defined', () => {
    const given = { name: 'mine', createHandlers: () => [greet] };
    expect(defineApplication(given)).to.equal(given);
  });

  it('is rejected with all of its problems at once', () => {
    const define = () =>
      defineApplication({ name: 'my app', createHandlers: () => [], recurring: [daily, daily] });
    expect(define).to.throw(RangeError, '"my app" is not a valid name for an application');
    expect(define).to.throw(RangeError, 'two recurring jobs have the id "daily"');
  });

  it('is rejected with all problems of its handlers at once', async () => {
    const problem = await problemOf(`
      const greet = handleJob(defineJob({ name: 'greet' }), () => null);
      const report = defineJob({ name: 'report' });
      export const application = {
        name: 'mine',
        createHandlers: () => [greet, greet],
        recurring: [defineRecurringJob({ id: 'daily', definition: report, args: {}, cron: '0 6 * * *' })],
      };`);
    expect(problem).to.contain('two handlers are for the job "greet"');
    expect(problem).to.contain('the recurring job "daily" enqueues "report", which has no handler');
  });

  for (const [option, value] of [
    ['onStart', '1'],
    ['onStop', '{}'],
    ['clientMiddleware', '() => null'],
    ['serverMiddleware', '[1]'],
  ])
    it(`is rejected if ${option} is ${value}`, async () => {
      const problem = await problemOf(
        `export const application = { name: 'mine', createHandlers: () => [], ${option}: ${value} };`,
      );
      expect(problem).to.contain(`defineApplication: ${option} must be a`);
    });

  it('gives its functions the client, with its middleware, the database, the directory and the logger', async () => {
    const application = await load(`
      export const application = {
        name: 'mine',
        clientMiddleware: [() => { throw new Error('refused') }],
        createHandlers: ({ client, database, directory, logger }) => {
          Object.assign(globalThis, { given: { client, database, directory, logger } });
          return [];
        },
      };`);
    const { given } = globalThis as unknown as { given: Record<string, unknown> };
    expect(given).to.include({ client: application.client, directory: '.', database: parts.database });
    expect(given['logger']).to.equal(parts.logger);
    const enqueuing = application.client.enqueue(defineJob({ name: 'greet' }), {});
    expect(await enqueuing.catch((error: unknown) => (error as Error).message)).to.equal('refused');
  });

  it('is told when the process stops only if it could start', async () => {
    const application = await load(`
      export const application = {
        name: 'mine',
        createHandlers: () => [],
        onStart: () => { if (globalThis.calls.push('start') === 1) throw new Error('not yet') },
        onStop: () => { globalThis.calls.push('stop') },
      };`);
    const calls: string[] = [];
    Object.assign(globalThis, { calls });
    await application.start().catch(() => undefined);
    await application.stop();
    expect(calls).to.deep.equal(['start']);
    await application.start();
    await application.stop();
    expect(calls).to.deep.equal(['start', 'start', 'stop']);
  });

  describe('has the built-in job "test"', () => {
    const empty = `export const application = { name: 'mine', createHandlers: () => [] };`;
    for (const [variables, has] of [
      [{}, false],
      [{ NODE_ENV: 'development' }, true],
      [{ LONGSHORE_TEST_JOB: true }, true],
      [{ NODE_ENV: 'development', LONGSHORE_TEST_JOB: false }, false],
    ] as const)
      it(`${has ? '' : 'not '}with ${JSON.stringify(variables)} in production`, async () => {
        const { hasTestJob, handlers } = await load(empty, variables);
        expect(hasTestJob).to.equal(has);
        expect(handlers.map(({ definition }) => definition.name)).to.deep.equal(has ? ['test'] : []);
      });

    const own = `
      export const application = { name: 'mine', createHandlers: () => [handleJob(defineJob({ name: 'test' }), () => null)] };`;

    it('which a job of its own may not meet', async () => {
      expect(await problemOf(own, { LONGSHORE_TEST_JOB: true })).to.contain('LONGSHORE_TEST_JOB=false');
    });

    it('whose name it may use if there is none', async () => {
      expect((await load(own)).handlers).to.have.length(1);
    });
  });

  it('is also checked when it is loaded, with the module in the message', async () => {
    const error = await load(`export const application = { name: '', createHandlers: () => [] };`).catch(
      (thrown: unknown) => thrown,
    );
    expect(error)
      .to.be.instanceOf(ConfigError)
      .with.property('message')
      .that.matches(/application\.mjs.*not a valid name for an application/);
  });
});
