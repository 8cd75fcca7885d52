import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import Type from 'typebox';
import { ConfigError, listOf, problemsOf, readConfig } from '../src/index.js';

describe('The configuration of a service', () => {
  const schema = Type.Object({
    PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
    EMBEDDED: Type.Boolean({ default: false }),
    DATABASE_URL: Type.String({ pattern: '^postgres://', expected: 'the URL of a database', secret: true }),
  });
  const database = { DATABASE_URL: 'postgres://localhost/longshore' };

  it('converts text to numbers and booleans', () => {
    expect(readConfig(schema, { ...database, PORT: '9000', EMBEDDED: 'true' })).to.include({
      PORT: 9000,
      EMBEDDED: true,
    });
  });

  it('uses defaults for variables that are unset or empty', () => {
    expect(readConfig(schema, { ...database, PORT: '' })).to.include({ PORT: 8080, EMBEDDED: false });
  });

  it('contains only the variables of its schema', () => {
    expect(readConfig(schema, { ...database, PATH: '/bin' })).not.to.have.property('PATH');
  });

  it('cannot be changed', () => {
    expect(readConfig(schema, database)).to.be.frozen;
  });

  it('is rejected with all problems at once, and without repeating values', () => {
    const read = () => readConfig(schema, { PORT: 'eighty', DATABASE_URL: 'mysql://root:hunter2@db' });
    expect(read).to.throw(ConfigError, /PORT must be a whole number from 0 to 65535/);
    expect(read).to.throw(ConfigError, /DATABASE_URL must be the URL of a database/);
    expect(read).not.to.throw(ConfigError, /hunter2/);
  });

  it('is rejected by name if something required is not set', () => {
    expect(() => readConfig(schema, {})).to.throw(ConfigError, 'DATABASE_URL is not set');
  });

  it('is rejected with the problems of several variables together, unless one of these is invalid by itself', () => {
    const checks = [() => ['EMBEDDED needs more'], () => ['PORT is taken']];
    const read = () => readConfig(schema, { ...database, PORT: 'eighty' }, checks);
    expect(problemsOf(read)).to.deep.equal([
      'PORT must be a whole number from 0 to 65535',
      'EMBEDDED needs more',
    ]);
  });

  describe('with a secret in a file', () => {
    let directory: string;
    let file: string;
    beforeEach(async () => {
      directory = await mkdtemp(path.join(tmpdir(), 'longshore-secret-'));
      file = path.join(directory, 'url');
      await writeFile(file, `${database.DATABASE_URL}\n`);
    });
    afterEach(() => rm(directory, { recursive: true }));

    it('has the content of the file, without the line break at its end', () => {
      expect(readConfig(schema, { DATABASE_URL_FILE: file })).to.include(database);
    });

    it('is the URL of the file if the file will be read again, once its content is known to be valid', async () => {
      const reread = Type.Object({
        DATABASE_URL: Type.String({ pattern: '^postgres://', secret: true, reread: true }),
      });
      const given = { DATABASE_URL_FILE: path.relative(process.cwd(), file) };
      expect(readConfig(reread, given)).to.deep.equal({ DATABASE_URL: pathToFileURL(file).href });
      await writeFile(file, 'mysql://localhost');
      expect(problemsOf(() => readConfig(reread, given))).to.have.lengthOf(1);
    });

    it('is rejected if the secret is also set directly', () => {
      const read = () => readConfig(schema, { ...database, DATABASE_URL_FILE: file });
      expect(problemsOf(read)).to.deep.equal([
        'DATABASE_URL and DATABASE_URL_FILE are both set: leave one of them out',
      ]);
    });

    it('is rejected if the file does not exist or is empty, in one sentence each', async () => {
      const missing = problemsOf(() => readConfig(schema, { DATABASE_URL_FILE: `${file}-none` }));
      await writeFile(file, '\n');
      const empty = problemsOf(() => readConfig(schema, { DATABASE_URL_FILE: file }));
      expect([missing.length, empty.length]).to.deep.equal([1, 1]);
      expect(missing[0]).to.match(/^DATABASE_URL_FILE names a file that cannot be read: ENOENT/);
      expect(empty[0]).to.equal(`DATABASE_URL_FILE names a file that is empty: ${file}`);
    });

    it('does not accept a file for what is not secret', () => {
      expect(readConfig(schema, { ...database, PORT_FILE: file })).to.include({ PORT: 8080 });
    });
  });

  it('reads comma-separated lists', () => {
    expect(listOf(' mail, default,,', 'LIST')).to.deep.equal(['mail', 'default']);
    expect(listOf('', 'LIST')).to.deep.equal([]);
  });

  it('does not take a list without entries for one that is not set', () => {
    for (const text of [' ', ',', ' , ,'])
      expect(() => listOf(text, 'LIST')).to.throw(ConfigError, 'LIST has no entry');
  });
});
