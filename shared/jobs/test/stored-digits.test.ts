import { expect } from 'chai';
import fc from 'fast-check';
import { keepStoredDigits, parseExactly } from '../src/storage.js';

/** Parses a stored document, changes and serializes it, and returns the result of `keepStoredDigits`. */
function changed(stored: string, change: (value: Record<string, unknown>) => unknown): string {
  return keepStoredDigits(stored, JSON.stringify(change(JSON.parse(stored) as Record<string, unknown>)));
}

describe('The digits of a stored document', () => {
  const stored =
    '{"n":12345678901234567890,"deep":[{"x":1.50},0.10000000000000000001,1e400],"s":"12345678901234567890"}';

  it('are kept when nothing else changes', () => {
    expect(changed('{"n":12345678901234567890}', (value) => value)).to.equal('{"n":12345678901234567890}');
  });

  it('are kept when another member is changed, added or removed, at any depth', () => {
    expect(changed(stored, ({ n, deep, s }) => ({ t: 1, s: `${String(s)}!`, deep, n }))).to.equal(
      '{"t":1,"s":"12345678901234567890!","deep":[{"x":1.50},0.10000000000000000001,1e400],"n":12345678901234567890}',
    );
  });

  it('are replaced by a different number', () => {
    expect(keepStoredDigits('{"n":12345678901234567890}', '{"n":7}')).to.equal('{"n":7}');
    expect(keepStoredDigits('{"n":12345678901234567890}', '{"n":12345678901234567891}')).to.equal(
      '{"n":12345678901234567891}',
    );
  });

  it('are replaced by a value that is not a number', () => {
    for (const next of ['{"n":null}', '{"n":"1"}', '{"n":{"n":1}}', '{"n":[1]}', '[1]', '1', 'true', '{}'])
      expect(keepStoredDigits('{"n":1}', next)).to.equal(next);
  });

  it('are not affected by the names of inherited members, or by quotes and brackets in strings', () => {
    const odd = '{"__proto__":12345678901234567890,"a\\"]":[12345678901234567890,"}{,:\\\\"],"":0.10}';
    expect(changed(odd, (value) => value)).to.equal(odd);
  });

  it('are those of the last of several members of one name, which is the one that counts', () => {
    expect(keepStoredDigits('{"n":1.50,"n":2.50}', '{"n":1.5,"n":2.5}')).to.equal('{"n":2.50}');
  });

  it('are not affected by objects that look like numbers with digits', () => {
    const odd = '{"text":"1],[","isLosslessNumber":true,"value":"7"}';
    expect(changed(`{"a":${odd},"n":0.10}`, (value) => value)).to.equal(`{"a":${odd},"n":0.10}`);
  });

  it('are kept for every way to write a number', () => {
    const digits = fc.stringMatching(/^(?:0|[1-9]\d{0,24})$/);
    const optional = (pattern: RegExp): fc.Arbitrary<string> =>
      fc.oneof(fc.constant(''), fc.stringMatching(pattern));
    const literal = fc
      .tuple(optional(/^-$/), digits, optional(/^\.\d{1,20}$/), optional(/^[eE][+-]?\d{1,3}$/))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(literal, (number) => {
        expect(changed(`{"n":${number},"s":1}`, ({ n }) => ({ n }))).to.equal(`{"n":${number}}`);
      }),
    );
  });

  it('never change the meaning of a document', () => {
    const document = fc.jsonValue({ maxDepth: 4 });
    fc.assert(
      fc.property(document, document, (before, after) => {
        const text = JSON.stringify(after);
        expect(JSON.parse(keepStoredDigits(JSON.stringify(before), text))).to.deep.equal(JSON.parse(text));
      }),
    );
  });
});

describe('A document with more levels than the stack holds', () => {
  it('is parsed', () => {
    const levels = 50_000;
    let value: unknown = parseExactly('['.repeat(levels) + ']'.repeat(levels));
    let depth = 0;
    for (; Array.isArray(value); value = value[0] as unknown) depth += 1;
    expect(depth).to.equal(levels);
  });
});
