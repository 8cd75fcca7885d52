import { expect } from 'chai';
import { toJobError } from '../src/job/failure.js';

describe('The stored error of an attempt', () => {
  it('has the name, message and stack of what was thrown', () => {
    const error = toJobError(new TypeError('No such ship'));
    expect(error).to.include({ name: 'TypeError', message: 'No such ship' });
    expect(error.stack).to.contain('failure.test.ts');
  });

  it('includes the causes', () => {
    const error = toJobError(new Error('outer', { cause: new Error('inner') }));
    expect(error.stack).to.contain('Caused by: Error: inner');
  });

  it('ends at an error that is its own cause', () => {
    const error = new Error('snake');
    error.cause = error;
    expect(toJobError(error).message).to.equal('snake');
  });

  it('is cut to a maximum length', () => {
    expect(toJobError(new Error('x'.repeat(1_000_000))).message).to.have.length(4_000);
  });

  it('contains no characters that Postgres rejects', () => {
    expect(toJobError(new Error('a\0b \ud83d')).message).to.equal('a\u2400b \ufffd');
  });

  const thrown: [string, unknown, string][] = [
    ['a string', 'overboard', 'overboard'],
    ['an object', { code: 7 }, '{"code":7}'],
    ['undefined', undefined, 'undefined'],
    ['something that cannot be printed', { n: 1n }, 'a value that cannot be printed'],
  ];
  for (const [what, value, message] of thrown) {
    it(`is readable if ${what} was thrown`, () => {
      expect(toJobError(value)).to.deep.equal({ name: 'NonErrorThrown', message, stack: null });
    });
  }
});
