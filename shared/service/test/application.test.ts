import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { defineJob, defineRecurringJob, handleJob } from '@longshore/jobs';
import { ConfigError, defineApplication, loadApplication } from '../src/index.js';
import { type ApplicationServices, assembleApplication } from '../src/application.js';

const services: ApplicationServices = {
  database: {
    query: () => Promise.reject(new Error('unused')),
    connect: () => Promise.reject(new Error('unused')),
  },
  directory: '.',
};

describe('The application of a service', () => {
  let directory: string;

  beforeEach(async () => {
    directory = await mkdtemp(path.join(tmpdir(), 'application-'));
  });

  afterEach(async () => {
    await rm(directory, { recursive: true });
  });

  const load = async (source: string) => {
    const file = path.join(directory, 'application.mjs');
    await writeFile(file, source);
    return loadApplication(file, services);
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
    const error = await loadApplication('@nobody/nothing', services).catch((thrown: unknown) => thrown);
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

  it('is rejected with all problems of its handlers at once', () => {
    const assemble = () =>
      assembleApplication(
        { name: 'mine', createHandlers: () => [greet, greet], recurring: [daily] },
        services,
      );
    expect(assemble).to.throw(RangeError, 'two handlers are for the job "greet"');
    expect(assemble).to.throw(
      RangeError,
      'the recurring job "daily" enqueues "report", which has no handler',
    );
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
