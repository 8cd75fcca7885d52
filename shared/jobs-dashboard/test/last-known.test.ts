import { expect } from 'chai';
import { Background } from '../src/reading/background.js';
import { LastKnown } from '../src/reading/last-known.js';

describe('what is known of slow reads', () => {
  let nowMs = 0;
  let known: LastKnown;
  /** Begins what waits for its turn in the background. */
  let turn: () => void = () => undefined;
  beforeEach(() => {
    nowMs = 0;
    const now = (): number => nowMs;
    known = new LastKnown(now, new Background(now, () => new Promise<void>((resolve) => (turn = resolve))));
  });

  /** Ends when nothing more happens by itself. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Begins to read something; what is given ends it. */
  function slowly<T>(key: string): {
    asked: ReturnType<typeof known.read<T>>;
    end: (value: T) => Promise<void>;
  } {
    let settle: (value: T) => void = () => undefined;
    const reading = new Promise<T>((resolve) => (settle = resolve));
    const asked = known.read(key, () => reading);
    return { asked, end: async (value) => (settle(value), await settled()) };
  }

  /** Reads what takes so long. */
  async function readIn(tookMs: number, value: number, key = 'a'): Promise<void> {
    const reading = slowly<number>(key);
    await reading.asked;
    nowMs += tookMs;
    await reading.end(value);
  }

  it('is nothing while it is read for the first time', async () => {
    expect(await slowly('a').asked).to.equal(undefined);
  });

  it('is what is there at once', async () => {
    expect(await known.read('a', async () => 7)).to.deep.equal({ value: 7, asOf: null });
  });

  it('is what it was until it is read again', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    const second = slowly<number>('a');
    expect(await second.asked).to.deep.equal({ value: 1, asOf: null });
    await settled();
    turn();
    await second.end(2);
    expect(await slowly('a').asked).to.deep.equal({ value: 2, asOf: null });
  });

  it('is read again when the page that asked has been answered, once for all who ask', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    let reads = 0;
    const again = async (): Promise<number> => (reads += 1);
    await Promise.all([known.read('a', again), known.read('a', again)]);
    await settled();
    expect(reads).to.equal(0);
    turn();
    await settled();
    expect(reads).to.equal(1);
  });

  it('is read at once by whoever comes when it is too old, not when its turn comes', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    await known.read('a', async () => 2);
    nowMs = 301_000;
    expect(await known.read('a', async () => 3)).to.deep.equal({ value: 3, asOf: null });
    await settled();
    turn();
    await settled();
    expect(await known.read('a', async () => 4)).to.deep.equal({ value: 4, asOf: null });
  });

  it('is not read again before ten times as long as reading took, a minute at most', async () => {
    for (const [tookMs, restMs] of [
      [2_000, 20_000],
      [7_000, 60_000],
    ] as const) {
      nowMs = 0;
      const key = String(tookMs);
      await readIn(tookMs, 1, key);
      nowMs = tookMs + restMs - 1;
      let reads = 0;
      const again = async (): Promise<number> => (reads += 1);
      await known.read(key, again);
      await settled();
      turn();
      await settled();
      expect(reads).to.equal(0);
      nowMs += 1;
      await known.read(key, again);
      await settled();
      turn();
      await settled();
      expect(reads).to.equal(1);
      turn();
    }
  });

  it('tells how old it is once it should have been read again', async () => {
    await readIn(2_000, 1);
    nowMs = 54_000;
    expect(await slowly('a').asked).to.deep.equal({ value: 1, asOf: null });
    nowMs = 54_001;
    expect(await slowly('a').asked).to.deep.equal({ value: 1, asOf: new Date(0) });
  });

  it('is nothing any more after five minutes', async () => {
    await known.read('a', async () => 1);
    nowMs = 300_001;
    expect(await slowly('a').asked).to.equal(undefined);
  });

  it('is of that thing only', async () => {
    await known.read('a', async () => 1);
    expect(await slowly('b').asked).to.equal(undefined);
  });

  it('is read once at a time', async () => {
    const first = slowly<number>('a');
    await first.asked;
    let reads = 0;
    const joined = known.read('a', async () => (reads += 1));
    await first.end(5);
    expect([await joined, reads]).to.deep.equal([{ value: 5, asOf: null }, 0]);
  });

  it('is nothing after a change, nor what was being read before it', async () => {
    const before = slowly<number>('a');
    await before.asked;
    known.clear();
    await before.end(1);
    expect(await slowly('a').asked).to.equal(undefined);
  });

  it('forgets first what nobody has asked for longest', async () => {
    for (let key = 0; key < 100; key += 1) await known.read(String(key), async () => key);
    await known.read('0', async () => 0);
    await known.read('100', async () => 100);
    const all = [slowly('0'), slowly('1')];
    expect([await all[0]?.asked, await all[1]?.asked]).to.deep.equal([{ value: 0, asOf: null }, undefined]);
  });

  it('keeps what it was when reading it fails', async () => {
    await known.read('a', async () => 1);
    const failed = await known.read('a', () => Promise.reject(new Error('down'))).catch(String);
    expect(failed).to.equal('Error: down');
    expect(await slowly('a').asked).to.deep.equal({ value: 1, asOf: null });
  });
});
