import { expect } from 'chai';
import Type from 'typebox';
import { defineJob, InvalidArgumentsError } from '../src/index.js';

describe('A job definition', () => {
  const ship = defineJob({
    name: 'ship',
    args: Type.Object(
      { orderId: Type.Integer({ minimum: 1 }), lines: Type.Array(Type.Object({ sku: Type.String() })) },
      { additionalProperties: false },
    ),
  });

  it('has defaults for everything except its name', () => {
    expect(defineJob({ name: 'plain' })).to.include({ queue: 'default', priority: 0, maxAttempts: 10 });
  });

  it('accepts arguments that match its schema', () => {
    expect(ship.check({ orderId: 1, lines: [{ sku: 'a' }] }).text).to.equal(
      '{"orderId":1,"lines":[{"sku":"a"}]}',
    );
  });

  const misfits: [string, unknown, string][] = [
    ['a missing argument', { lines: [] }, 'args.orderId is missing'],
    ['a wrong type', { orderId: 'one', lines: [] }, 'args.orderId must be integer'],
    ['a value out of bounds', { orderId: 0, lines: [] }, 'args.orderId must be >= 1'],
    [
      'an unknown argument',
      { orderId: 1, lines: [], rush: true },
      'args.rush is not an argument of this job',
    ],
    ['a wrong element', { orderId: 1, lines: [{ sku: 1 }] }, 'args.lines[0].sku must be string'],
  ];
  for (const [what, args, message] of misfits) {
    it(`rejects ${what} and names its path`, () => {
      expect(() => ship.check(args as never)).to.throw(InvalidArgumentsError, message);
    });
  }

  it('refuses arguments of a version that it does not have', () => {
    const second = defineJob({ name: 'second', version: 2 });
    expect(() => second.read({}, 3)).to.throw(RangeError, 'are of version 3 of the job "second"');
    expect(() => second.check({}, 3)).to.throw(RangeError, 'deploy the newer definition');
  });

  it('must not upgrade asynchronously', () => {
    const upgrade = (async () => ({})) as never;
    const second = defineJob({ name: 'second', version: 2, upgrade });
    expect(() => second.read({}, 1)).to.throw(TypeError, 'not a promise');
  });

  it('handles the rejection of an asynchronous upgrade, which would end the process', async () => {
    const upgrade = (() => Promise.reject(new Error('unhandled'))) as never;
    const second = defineJob({ name: 'second', version: 2, upgrade });
    expect(() => second.read({}, 1)).to.throw(TypeError, 'not a promise');
    await new Promise(setImmediate); // Node.js reports an unhandled rejection by now, which fails the test
  });

  it('must return what it has upgraded', () => {
    const second = defineJob({ name: 'second', version: 2, upgrade: (() => undefined) as never });
    expect(() => second.read({}, 1)).to.throw(TypeError, 'upgrade returned nothing');
  });

  it('accepts any object if it has no schema', () => {
    expect(defineJob({ name: 'any' }).check({ whatever: 1 }).text).to.equal('{"whatever":1}');
  });

  const outOfBounds: [string, object, string][] = [
    ['a name with a space', { name: 'two words' }, 'is not a valid name for a job'],
    ['an empty name', { name: '' }, 'is not a valid name for a job'],
    ['a queue with a slash', { name: 'a', queue: 'x/y' }, 'is not a valid name for a queue'],
    ['a fractional priority', { name: 'a', priority: 0.5 }, 'A priority must be an integer'],
    ['a priority beyond 100', { name: 'a', priority: 101 }, 'A priority must be an integer'],
    ['a version of 0', { name: 'a', version: 0 }, 'version of the job "a" must be an integer from 1'],
    ['an alias with a space', { name: 'a', aliases: ['b c'] }, 'is not a valid name for a job'],
    ['its name as an alias', { name: 'a', aliases: ['b', 'a'] }, 'contain "a", which is already a name'],
    ['no attempts', { name: 'a', maxAttempts: 0 }, 'maxAttempts must be an integer'],
  ];
  for (const [what, options, message] of outOfBounds) {
    it(`rejects ${what}`, () => {
      expect(() => defineJob(options as { name: string })).to.throw(RangeError, message);
    });
  }
});
