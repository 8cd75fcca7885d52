import { expect } from 'chai';
import { InvalidArgumentsError } from '../src/index.js';
import { toJsonText } from '../src/storage.js';

describe('Arguments of a job', () => {
  function problemsOf(value: unknown): string[] {
    try {
      toJsonText(value, 'args');
    } catch (error) {
      if (error instanceof InvalidArgumentsError)
        return error.problems.map(({ path, message }) => `${path} ${message}`);
      throw error;
    }
    return [];
  }

  it('are returned from storage unchanged', () => {
    const args = { a: null, b: [true, 0.5, -1, 'text'], c: { d: {} }, 'odd key': [] };
    expect(JSON.parse(toJsonText(args, 'args'))).to.deep.equal(args);
  });

  it('may contain the same object twice', () => {
    const shared = { n: 1 };
    expect(toJsonText([shared, shared], 'args')).to.equal('[{"n":1},{"n":1}]');
  });

  it('may be an object without a prototype', () => {
    const args = Object.assign(Object.create(null) as object, { n: 1 });
    expect(toJsonText(args, 'args')).to.equal('{"n":1}');
  });

  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  class Ship {
    name = 'Fram';
  }
  const refused: [string, unknown, string][] = [
    ['a function', { run: () => 1 }, 'args.run is a function'],
    ['a symbol', { tag: Symbol('x') }, 'args.tag is a symbol'],
    ['a symbol as a key', { [Symbol('x')]: 1 }, 'args has a symbol as a key'],
    ['a cycle', cyclic, 'args.self refers back to an object that contains it'],
    ['a class instance', { ship: new Ship() }, 'args.ship is an instance of Ship'],
    ['a Date', { at: new Date(0) }, 'args.at is a Date: pass toISOString()'],
    ['a Map', [new Map()], 'args[0] is an instance of Map'],
    ['a BigInt', { n: 1n }, 'args.n is a BigInt: pass it as a string'],
    ['NaN', { n: Number.NaN }, 'args.n is NaN'],
    ['infinity', [[-Infinity]], 'args[0][0] is -Infinity'],
    ['an undefined member', { a: { b: undefined } }, 'args.a.b is undefined'],
    ['an undefined value', undefined, 'args is undefined'],
    ['a hole in an array', Array.from({ length: 1 }), 'args[0] is undefined'],
    ['a NUL character', { 'a b': 'x\0' }, 'args["a b"] contains a NUL character'],
    ['half a surrogate pair', ['\ud83d'], 'args[0] contains half of a surrogate pair'],
    ['a key with a NUL character', { 'k\0': 1 }, 'has a key that contains a NUL character'],
  ];
  for (const [what, value, message] of refused) {
    it(`are rejected with the path of ${what}`, () => {
      expect(problemsOf(value).join('; ')).to.contain(message);
    });
  }

  it('are rejected if they are nested more than 100 levels deep', () => {
    let deep: unknown = 1;
    for (let level = 0; level < 101; level++) deep = [deep];
    expect(problemsOf(deep).join()).to.contain('nested more than 100 levels deep');
  });

  it('are rejected with all of their problems at once', () => {
    expect(problemsOf({ a: undefined, b: [1n] })).to.have.length(2);
  });
});
