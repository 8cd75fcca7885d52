import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import {
  defineJob,
  handleJob,
  JobClient,
  type JobError,
  JobServer,
  MemoryStorage,
  type RunMiddleware,
  silentLogger,
} from '../src/index.js';
import { toJobError } from '../src/job/failure.js';

describe('The stored error of an attempt', () => {
  it('has the name, message and stack of what was thrown', () => {
    const error = toJobError(new TypeError('No such ship'));
    expect(error).to.include({ name: 'TypeError', message: 'No such ship' });
    expect(error.stack).to.contain('failure.test.ts');
  });

  class CardRefused extends Error {}
  class Declined extends CardRefused {}
  class Named extends Error {
    override name = 'PaymentError';
  }
  const Anonymous = (() => class extends TypeError {})();

  for (const [error, name] of [
    [new CardRefused('no'), 'CardRefused'],
    [new Declined('no'), 'Declined'],
    [new Named('no'), 'PaymentError'],
    [new (class extends Named {})('no'), 'PaymentError'],
    [new Anonymous('no'), 'TypeError'],
    [new DOMException('no', 'AbortError'), 'AbortError'],
    [Object.assign(new CardRefused('no'), { name: 'Refused' }), 'Refused'],
    [new AggregateError([], 'no'), 'AggregateError'],
  ] as const) {
    it(`has the name ${name}, of the class or as set, for ${error.constructor.name || 'an anonymous class'}`, () => {
      const { name: stored, stack } = toJobError(error);
      expect(stored).to.equal(name);
      expect(stack).to.match(new RegExp(`^${name}: no\n`));
    });
  }

  it('has the class’s name for each cause', () => {
    const { stack } = toJobError(new Error('outer', { cause: new CardRefused('inner') }));
    expect(stack).to.contain('Caused by: CardRefused: inner');
  });

  it('leaves the lines of Longshore out of the stack and says how many there were', async () => {
    const storage = new MemoryStorage();
    const work = defineJob({ name: 'work', maxAttempts: 1 });
    const run = (): never => {
      throw new CardRefused('no');
    };
    await new JobClient(storage).enqueue(work);
    const around: RunMiddleware = async (_, next) => next();
    const server = new JobServer({
      storage,
      handlers: [handleJob(work, run)],
      logger: silentLogger,
      middleware: [around],
    });
    const failed = new Promise<JobError>((resolve) => server.on('failed', ({ error }) => resolve(error)));
    await server.start();
    const { stack } = await failed;
    await server.stop();
    const lines = stack?.split('\n') ?? [];
    expect(lines.slice(1, -1)).to.have.length(2);
    for (const line of lines.slice(1, -1)) expect(line).to.contain('failure.test.ts');
    expect(lines.at(-1)).to.match(/^    \(\d+ lines of Longshore left out\)$/);
  });

  it('keeps a stack that consists of Longshore’s lines only', () => {
    const error = new Error('no handler');
    error.stack = `Error: no handler\n    at run (${fileURLToPath(new URL('../src/server/runner.ts', import.meta.url))}:1:1)`;
    expect(toJobError(error).stack).to.equal(error.stack);
  });

  it('keeps the application’s lines below a long message', () => {
    expect(toJobError(new Error('x'.repeat(1_000_000))).stack).to.contain('failure.test.ts');
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
