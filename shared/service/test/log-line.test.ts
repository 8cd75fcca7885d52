import { expect } from 'chai';
import { formatLogLine, paintFor } from '../src/log-line.js';

const plain = paintFor({ isTTY: false }, {});
const time = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

describe('formatLogLine', () => {
  it('prints time, level, message and fields on one line', () => {
    const line = JSON.stringify({
      level: 30,
      time,
      pid: 1,
      hostname: 'h',
      queue: 'default',
      n: 2,
      msg: 'job done',
    });
    expect(formatLogLine(line, plain)).to.equal('03:04:05.678 info job done queue=default n=2');
  });

  it('reads a level and a time written as text', () => {
    const line = JSON.stringify({ level: 'warn', time: new Date(time).toISOString(), msg: 'slow' });
    expect(formatLogLine(line, plain)).to.equal('03:04:05.678 warn slow');
  });

  for (const level of [40, 'warn']) {
    it(`colours the level ${JSON.stringify(level)}`, () => {
      const line = JSON.stringify({ level, time, msg: 'slow' });
      expect(formatLogLine(line, paintFor({ isTTY: true }, {}))).to.include('\u001B[33mwarn\u001B[0m slow');
    });
  }

  it('prints an error’s stack on the lines below', () => {
    const line = JSON.stringify({
      level: 50,
      time,
      msg: 'lost',
      err: { message: 'no', stack: 'Error: no\n  at x' },
    });
    expect(formatLogLine(line, plain)).to.equal('03:04:05.678 error lost\nError: no\n  at x');
  });

  for (const line of ['plain words', '{not json', '{"no":"level"}', '']) {
    it(`does not change ${JSON.stringify(line)}`, () => {
      expect(formatLogLine(line, plain)).to.equal(line);
    });
  }

  it('uses colours on a terminal, unless NO_COLOR is set', () => {
    const [coloured, uncoloured] = [
      paintFor({ isTTY: true }, {}),
      paintFor({ isTTY: true }, { NO_COLOR: '1' }),
    ];
    expect([coloured('red', 'x'), uncoloured('red', 'x')]).to.deep.equal(['\u001B[31mx\u001B[0m', 'x']);
  });
});
