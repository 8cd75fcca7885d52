import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { defineJob, defineRecurringJob, handleJob } from '@longshore/jobs';
import { ConfigError, defineApplication, loadApplication } from '../src/index.js';

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
    return loadApplication(file);
  };

  it('is loaded from a path', async () => {
    expect(await load(`export const application = { name: 'mine', handlers: [] };`)).to.include({
      name: 'mine',
    });
  });

  it('is refused if the module exports none, with what it should export', async () => {
    const error = await load('export const something = 1;').catch((thrown: unknown) => thrown);
    expect(error)
      .to.be.instanceOf(ConfigError)
      .with.property('message')
      .that.contains('must export "application"');
  });

  it('is refused if there is no such module, by name', async () => {
    const error = await loadApplication('@nobody/nothing').catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(ConfigError).with.property('message').that.contains('@nobody/nothing');
  });

  const greet = handleJob(defineJob({ name: 'greet' }), () => null);
  const daily = defineRecurringJob({
    id: 'daily',
    definition: defineJob({ name: 'report' }),
    args: {},
    cron: '0 6 * * *',
  });

  it('is what was defined', () => {
    const given = { name: 'mine', handlers: [greet] };
    expect(defineApplication(given)).to.equal(given);
  });

  it('is refused with every problem at once', () => {
    const define = () =>
      defineApplication({ name: 'my app', handlers: [greet, greet], recurring: [daily, daily] });
    expect(define).to.throw(RangeError, '"my app" cannot name an application');
    expect(define).to.throw(RangeError, 'two jobs are named "greet"');
    expect(define).to.throw(RangeError, 'two recurring jobs have the id "daily"');
    expect(define).to.throw(RangeError, 'the recurring job "daily" enqueues "report", which is no job');
  });

  it('is checked when it is loaded, too, and the module named', async () => {
    const error = await load(`export const application = { name: '', handlers: [] };`).catch(
      (thrown: unknown) => thrown,
    );
    expect(error)
      .to.be.instanceOf(ConfigError)
      .with.property('message')
      .that.matches(/application\.mjs.*cannot name an application/);
  });
});
