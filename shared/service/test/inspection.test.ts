import { expect } from 'chai';
import Type from 'typebox';
import { type Environment, readConfig } from '../src/index.js';
import { inspections } from '../src/inspection.js';

describe('A service that is inspected', () => {
  const variables = Type.Object({
    PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
    LEVEL: Type.Enum(['info', 'debug'], { default: 'info' }),
    KEY: Type.Optional(Type.String({ secret: true })),
  });
  const inspect = (option: string, environment: Environment = {}) =>
    inspections[option]?.({
      name: 'api',
      variables,
      environment,
      readConfig: (given) => readConfig(variables, given),
      commands: { seed: null },
      findProblems: () => Promise.resolve(environment['KEY'] === 'weak' ? ['KEY is weak'] : []),
    });

  it('lists its commands and variables', async () => {
    const { text, code } = (await inspect('--help')) ?? {};
    expect(code).to.equal(0);
    expect(text)
      .to.contain('  api seed\n')
      .and.to.contain('  PORT   whole number from 0 to 65535; default 8080\n')
      .and.to.contain('  LEVEL  info | debug; default info\n')
      .and.to.match(/  KEY    text; or KEY_FILE$/);
  });

  it('prints its version', async () => {
    expect((await inspect('--version'))?.text).to.match(/^api \d+\.\d+\.\d+$/);
  });

  it('says that its configuration is valid', async () => {
    expect(await inspect('--check')).to.deep.equal({ text: 'The configuration is valid.', code: 0 });
  });

  it('prints all problems of its configuration, a line each', async () => {
    expect(await inspect('--check', { PORT: 'x', LEVEL: 'y' })).to.deep.equal({
      text: 'PORT must be a whole number from 0 to 65535.\nLEVEL must be one of info, debug.',
      code: 1,
    });
  });

  it('prints what the service would find wrong when it starts, even if reading its configuration finds problems', async () => {
    expect(await inspect('--check', { LEVEL: 'y', KEY: 'weak' })).to.deep.equal({
      text: 'LEVEL must be one of info, debug.\nKEY is weak.',
      code: 1,
    });
  });

  it('prints its values and where they are from, without secrets', async () => {
    expect((await inspect('--print-config', { PORT: '9000', KEY: 'hunter2' }))?.text).to.equal(
      'PORT=9000  # environment\nLEVEL=info  # default\nKEY=********  # environment',
    );
  });

  it('prints its values even if some are invalid, and then the problems', async () => {
    expect(await inspect('--print-config', { LEVEL: 'y' })).to.deep.equal({
      text: 'PORT=8080  # default\nLEVEL=y  # environment\nKEY=  # not set\n# LEVEL must be one of info, debug.',
      code: 1,
    });
  });
});
