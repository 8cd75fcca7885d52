import { expect } from 'chai';
import Type from 'typebox';
import { ConfigError, listOf, readConfig } from '../src/index.js';

describe('The configuration of a service', () => {
  const schema = Type.Object({
    PORT: Type.Integer({ minimum: 0, maximum: 65_535, default: 8080 }),
    EMBEDDED: Type.Boolean({ default: false }),
    DATABASE_URL: Type.String({ pattern: '^postgres://' }),
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
    expect(read).to.throw(ConfigError, /PORT must be integer/);
    expect(read).to.throw(ConfigError, /DATABASE_URL must match pattern/);
    expect(read).not.to.throw(ConfigError, /hunter2/);
  });

  it('is rejected by name if something required is not set', () => {
    expect(() => readConfig(schema, {})).to.throw(ConfigError, 'DATABASE_URL is not set');
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
