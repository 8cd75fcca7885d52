import { expect } from 'chai';
import { RefreshQueue } from '../src/cache/refresh-queue.js';

describe('the refresh queue', () => {
  let nowMs = 0;
  let rests: number[] = [];
  let queue: RefreshQueue;
  beforeEach(() => {
    nowMs = 0;
    rests = [];
    queue = new RefreshQueue(
      () => nowMs,
      async (ms) => {
        rests.push(ms);
      },
    );
  });
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('runs one refresh after the other', async () => {
    const begun: string[] = [];
    let end: () => void = () => undefined;
    const first = queue.add(() => new Promise<void>((resolve) => (begun.push('first'), (end = resolve))));
    const second = queue.add(async () => begun.push('second'));
    await settled();
    expect(begun).to.deep.equal(['first']);
    end();
    await Promise.all([first, second]);
    expect(begun).to.deep.equal(['first', 'second']);
  });

  it('starts after the page has been answered, and pauses three times as long as a refresh takes', async () => {
    await queue.add(async () => (nowMs = 200));
    await settled();
    expect(rests).to.deep.equal([100, 600]);
  });

  it('pauses for a minute at most, even if the clock is set', async () => {
    await queue.add(async () => (nowMs = 7_200_000));
    await settled();
    expect(rests).to.deep.equal([100, 60_000]);
  });

  it('goes on after a refresh that fails, and passes its error on', async () => {
    const failed = await queue.add(() => Promise.reject(new Error('down'))).catch(String);
    expect([failed, await queue.add(async () => 1)]).to.deep.equal(['Error: down', 1]);
  });
});
