import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { ConfigError, loadApplication } from '../src/index.js';

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
});
