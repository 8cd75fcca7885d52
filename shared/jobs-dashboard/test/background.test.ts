import { expect } from 'chai';
import { Background } from '../src/reading/background.js';

describe('reads in the background', () => {
  let nowMs = 0;
  let rests: number[] = [];
  let background: Background;
  beforeEach(() => {
    nowMs = 0;
    rests = [];
    background = new Background(
      () => nowMs,
      async (ms) => {
        rests.push(ms);
      },
    );
  });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('are one after the other', async () => {
    const begun: string[] = [];
    let end: () => void = () => undefined;
    const first = background.read(
      () => new Promise<void>((resolve) => (begun.push('first'), (end = resolve))),
    );
    const second = background.read(async () => begun.push('second'));
    await settled();
    expect(begun).to.deep.equal(['first']);
    end();
    await Promise.all([first, second]);
    expect(begun).to.deep.equal(['first', 'second']);
  });

  it('begin when who asked has been answered, and rest three times as long as they take', async () => {
    await background.read(async () => (nowMs = 200));
    await settled();
    expect(rests).to.deep.equal([100, 600]);
  });

  it('rest for a minute at most, though a clock may be put right', async () => {
    await background.read(async () => (nowMs = 7_200_000));
    await settled();
    expect(rests).to.deep.equal([100, 60_000]);
  });

  it('go on after one that fails, which fails for who waits for it', async () => {
    const failed = await background.read(() => Promise.reject(new Error('down'))).catch(String);
    expect([failed, await background.read(async () => 1)]).to.deep.equal(['Error: down', 1]);
  });
});
