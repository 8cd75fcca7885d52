import { expect } from 'chai';
import { Cache } from '../src/cache/cache.js';
import { RefreshQueue } from '../src/cache/refresh-queue.js';

describe('the cache', () => {
  let nowMs = 0;
  let loads = 0;
  const load = async (): Promise<number> => (loads += 1);
  beforeEach(() => {
    nowMs = 0;
    loads = 0;
  });
  /** Ends the latest pause of a refresh queue. A queue pauses before and after each refresh. */
  let endPause: () => void = () => undefined;
  const cacheOf = (lifetimeMs: number): Cache => {
    const now = (): number => nowMs;
    const pauseFor = (): Promise<void> => new Promise((resolve) => (endPause = resolve));
    return new Cache(lifetimeMs, now, () => new RefreshQueue(now, pauseFor));
  };

  /** Resolves after all pending promise callbacks have run. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  describe('with slow reads', () => {
    const keptMs = (): number => 5_000;
    let shared: Cache;
    beforeEach(async () => {
      shared = cacheOf(1_000);
      await shared.readStale('a', async () => ((nowMs = 100), load()), keptMs);
    });

    it('returns the stale value while it is refreshed, once', async () => {
      nowMs = 5_100;
      const shown = await Promise.all([
        shared.readStale('a', load, keptMs),
        shared.readStale('a', load, keptMs),
      ]);
      expect([...shown, loads]).to.deep.equal([1, 1, 1]);
      await settled();
      endPause();
      await settled();
      expect([await shared.readStale('a', load, keptMs), loads]).to.deep.equal([2, 2]);
    });

    it('reads a value at once when it is older than twice its lifetime', async () => {
      nowMs = 10_100;
      expect(await shared.readStale('a', load, keptMs)).to.equal(2);
    });

    it('does not refresh what has been read again since', async () => {
      nowMs = 5_100;
      await shared.readStale('a', load, keptMs);
      shared.clear();
      await shared.readStale('a', load, keptMs);
      await settled();
      endPause();
      await settled();
      expect(loads).to.equal(2);
    });

    it('waits for the refresh under way once the stale value has expired', async () => {
      nowMs = 5_100;
      let end: (value: number) => void = () => undefined;
      const next = (): Promise<number> => new Promise((resolve) => (end = resolve));
      await shared.readStale('a', next, keptMs);
      await settled();
      endPause();
      await settled();
      nowMs = 10_100;
      const value = shared.readStale('a', load, keptMs);
      end(7);
      expect([await value, loads]).to.deep.equal([7, 1]);
    });

    it('does not evict a value before its refresh has ended', async () => {
      nowMs = 5_100;
      let end: (value: number) => void = () => undefined;
      await shared.readStale('a', () => new Promise<number>((resolve) => (end = resolve)), keptMs);
      await settled();
      endPause();
      await settled();
      nowMs = 10_100;
      await shared.read('b', load);
      const value = shared.readStale('a', load, keptMs);
      end(7);
      expect(await value).to.equal(7);
    });

    it('keeps the stale value when its refresh fails, and reports the error once it has expired', async () => {
      nowMs = 5_100;
      const fail = (): Promise<number> => Promise.reject(new Error('down'));
      await shared.readStale('a', fail, keptMs);
      await settled();
      endPause();
      await settled();
      expect(await shared.readStale('a', fail, keptMs)).to.equal(1);
      nowMs = 10_100;
      expect(await shared.readStale('a', fail, keptMs).catch(String)).to.equal('Error: down');
    });
  });

  it('reads a fast value again once it has expired, instead of returning it stale', async () => {
    const shared = cacheOf(1_000);
    await shared.readStale('a', load, () => 5_000);
    nowMs = 5_000;
    expect(await shared.readStale('a', load, () => 5_000)).to.equal(2);
  });

  it('reads a key once within its lifetime', async () => {
    const shared = cacheOf(1_000);
    const value = await Promise.all([shared.read('a', load), shared.read('a', load)]);
    nowMs = 999;
    expect([...value, await shared.read('a', load)]).to.deep.equal([1, 1, 1]);
  });

  it('reads it again afterwards', async () => {
    const shared = cacheOf(1_000);
    await shared.read('a', load);
    nowMs = 1_000;
    expect(await shared.read('a', load)).to.equal(2);
  });

  it('does not read a key twice at a time, however long it takes', async () => {
    const shared = cacheOf(1_000);
    let resolve: (value: number) => void = () => undefined;
    const first = shared.read('a', () => new Promise<number>((settle) => (resolve = settle)));
    nowMs = 60_000;
    const second = shared.read('a', load);
    resolve(7);
    expect([await first, await second, loads]).to.deep.equal([7, 7, 0]);
  });

  it('keeps a slow value for as long as it took to read', async () => {
    const shared = cacheOf(1_000);
    await shared.read('a', async () => {
      nowMs = 10_000;
    });
    nowMs = 19_999;
    await shared.read('a', load);
    expect(loads).to.equal(0);
    nowMs = 20_000;
    await shared.read('a', load);
    expect(loads).to.equal(1);
  });

  it('keeps values apart by their keys', async () => {
    const shared = cacheOf(1_000);
    expect([await shared.read('a', load), await shared.read('b', load)]).to.deep.equal([1, 2]);
  });

  it('does not keep a failure', async () => {
    const shared = cacheOf(1_000);
    const failed = await shared.read('a', () => Promise.reject(new Error('down'))).catch(String);
    expect([failed, await shared.read('a', load)]).to.deep.equal(['Error: down', 1]);
  });

  it('evicts the least recently used entry when there are too many', async () => {
    const shared = cacheOf(1_000);
    for (let key = 0; key <= 1_000; key += 1) await shared.read(String(key), load);
    expect([await shared.read('1000', load), await shared.read('0', load)]).to.deep.equal([1_001, 1_002]);
  });
});

describe('the cache, for parts that a page does not wait for', () => {
  let nowMs = 0;
  let cache: Cache;
  /** Ends the latest pause of a refresh queue. A queue pauses before and after each refresh. */
  let endPause: () => void = () => undefined;
  beforeEach(() => {
    nowMs = 0;
    const now = (): number => nowMs;
    cache = new Cache(
      1_000,
      now,
      () => new RefreshQueue(now, () => new Promise<void>((resolve) => (endPause = resolve))),
    );
  });

  /** Resolves after all pending promise callbacks have run. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  /** Starts a read that does not finish until `end` is called. */
  function slowly<T>(key: string): {
    value: ReturnType<typeof cache.readSoon<T>>;
    end: (value: T) => Promise<void>;
  } {
    let settle: (value: T) => void = () => undefined;
    const reading = new Promise<T>((resolve) => (settle = resolve));
    const value = cache.readSoon(key, () => reading);
    return { value, end: async (value) => (settle(value), await settled()) };
  }

  /** Reads `value`. The read takes `tookMs` milliseconds on the test's clock. */
  async function readIn(tookMs: number, value: number, key = 'a'): Promise<void> {
    const reading = slowly<number>(key);
    await reading.value;
    nowMs += tookMs;
    await reading.end(value);
  }

  it('returns nothing while a value is read for the first time', async () => {
    expect(await slowly('a').value).to.equal(undefined);
  });

  it('returns a value that can be read at once', async () => {
    expect(await cache.readSoon('a', async () => 7)).to.deep.equal({ value: 7, asOf: null });
  });

  it('does not delay the refresh of a slow read by a search', async () => {
    const keptMs = (): number => 5_000;
    await cache.readStale('steady', async () => ((nowMs += 100), 1), keptMs);
    await readIn(100, 1);
    nowMs = 6_000; // both values are stale
    await slowly('a').value;
    await settled();
    const begins = endPause;
    await cache.readStale('steady', async () => 2, keptMs);
    await settled();
    expect(endPause, 'the turn of the slow read').not.to.equal(begins);
    endPause();
    await settled();
    expect(await cache.readStale('steady', async () => 3, keptMs)).to.equal(2);
  });

  it('returns the previous value until the refresh has ended', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    const second = slowly<number>('a');
    expect(await second.value).to.deep.equal({ value: 1, asOf: null });
    await settled();
    endPause();
    await second.end(2);
    expect(await slowly('a').value).to.deep.equal({ value: 2, asOf: null });
  });

  it('refreshes a value after the page has been answered, once for all viewers', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    let reads = 0;
    const again = async (): Promise<number> => (reads += 1);
    await Promise.all([cache.readSoon('a', again), cache.readSoon('a', again)]);
    await settled();
    expect(reads).to.equal(0);
    endPause();
    await settled();
    expect(reads).to.equal(1);
  });

  it('reads an expired value at once instead of queueing it', async () => {
    await readIn(1_000, 1);
    nowMs = 12_000;
    await cache.readSoon('a', async () => 2);
    nowMs = 301_000;
    expect(await cache.readSoon('a', async () => 3)).to.deep.equal({ value: 3, asOf: null });
    await settled();
    endPause();
    await settled();
    expect(await cache.readSoon('a', async () => 4)).to.deep.equal({ value: 4, asOf: null });
  });

  it('does not refresh a value before ten times as long as reading it took, a minute at most', async () => {
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
      await cache.readSoon(key, again);
      await settled();
      endPause();
      await settled();
      expect(reads).to.equal(0);
      nowMs += 1;
      await cache.readSoon(key, again);
      await settled();
      endPause();
      await settled();
      expect(reads).to.equal(1);
      endPause();
    }
  });

  it('returns the age of an overdue value', async () => {
    await readIn(2_000, 1);
    nowMs = 54_000;
    expect(await slowly('a').value).to.deep.equal({ value: 1, asOf: null });
    nowMs = 54_001;
    expect(await slowly('a').value).to.deep.equal({ value: 1, asOf: new Date(0) });
  });

  it('forgets a value after five minutes', async () => {
    await cache.readSoon('a', async () => 1);
    nowMs = 300_001;
    expect(await slowly('a').value).to.equal(undefined);
  });

  it('does not return the value of another key', async () => {
    await cache.readSoon('a', async () => 1);
    expect(await slowly('b').value).to.equal(undefined);
  });

  it('reads a key once at a time', async () => {
    const first = slowly<number>('a');
    await first.value;
    let reads = 0;
    const joined = cache.readSoon('a', async () => (reads += 1));
    await first.end(5);
    expect([await joined, reads]).to.deep.equal([{ value: 5, asOf: null }, 0]);
  });

  it('forgets everything when it is cleared, including reads under way', async () => {
    const before = slowly<number>('a');
    await before.value;
    cache.clear();
    await before.end(1);
    expect(await slowly('a').value).to.equal(undefined);
  });

  it('evicts the least recently used entry first', async () => {
    for (let key = 0; key < 1_000; key += 1) await cache.readSoon(String(key), async () => key);
    await cache.readSoon('0', async () => 0);
    await cache.readSoon('1000', async () => 1_000);
    const slowReads = [slowly('0'), slowly('1')];
    expect([await slowReads[0]?.value, await slowReads[1]?.value]).to.deep.equal([
      { value: 0, asOf: null },
      undefined,
    ]);
  });

  it('keeps the previous value when reading it again fails', async () => {
    await cache.readSoon('a', async () => 1);
    const failed = await cache.readSoon('a', () => Promise.reject(new Error('down'))).catch(String);
    expect(failed).to.equal('Error: down');
    expect(await slowly('a').value).to.deep.equal({ value: 1, asOf: null });
  });
});
