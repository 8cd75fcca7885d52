import { expect } from 'chai';
import { Background } from '../src/reading/background.js';
import { Snapshot } from '../src/reading/snapshot.js';

describe('a snapshot', () => {
  let nowMs = 0;
  let loads = 0;
  const load = async (): Promise<number> => (loads += 1);
  beforeEach(() => {
    nowMs = 0;
    loads = 0;
  });
  /** Begins what waits for its turn in the background. */
  let turn: () => void = () => undefined;
  const snapshot = (lifetimeMs: number): Snapshot => {
    const now = (): number => nowMs;
    const rest = (): Promise<void> => new Promise((resolve) => (turn = resolve));
    return new Snapshot(lifetimeMs, now, new Background(now, rest));
  };

  /** Ends when nothing more happens by itself. */
  const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  describe('of what takes long', () => {
    const keptMs = (): number => 5_000;
    let shared: Snapshot;
    beforeEach(async () => {
      shared = snapshot(1_000);
      await shared.shareStale('a', async () => ((nowMs = 100), load()), keptMs);
    });

    it('shows what was there while it is loaded again, once', async () => {
      nowMs = 5_100;
      const shown = await Promise.all([
        shared.shareStale('a', load, keptMs),
        shared.shareStale('a', load, keptMs),
      ]);
      expect([...shown, loads]).to.deep.equal([1, 1, 1]);
      await settled();
      turn();
      await settled();
      expect([await shared.shareStale('a', load, keptMs), loads]).to.deep.equal([2, 2]);
    });

    it('loads it at once when that is older than twice as long as it is kept', async () => {
      nowMs = 10_100;
      expect(await shared.shareStale('a', load, keptMs)).to.equal(2);
    });

    it('does not load it again for nobody, nor twice', async () => {
      nowMs = 5_100;
      await shared.shareStale('a', load, keptMs);
      shared.clear();
      await shared.shareStale('a', load, keptMs);
      await settled();
      turn();
      await settled();
      expect(loads).to.equal(2);
    });

    it('waits for what is being loaded once the old is too old', async () => {
      nowMs = 5_100;
      let end: (value: number) => void = () => undefined;
      const next = (): Promise<number> => new Promise((resolve) => (end = resolve));
      await shared.shareStale('a', next, keptMs);
      await settled();
      turn();
      await settled();
      nowMs = 10_100;
      const asked = shared.shareStale('a', load, keptMs);
      end(7);
      expect([await asked, loads]).to.deep.equal([7, 1]);
    });

    it('does not forget the old before the new is there', async () => {
      nowMs = 5_100;
      let end: (value: number) => void = () => undefined;
      await shared.shareStale('a', () => new Promise<number>((resolve) => (end = resolve)), keptMs);
      await settled();
      turn();
      await settled();
      nowMs = 10_100;
      await shared.share('b', load);
      const asked = shared.shareStale('a', load, keptMs);
      end(7);
      expect(await asked).to.equal(7);
    });

    it('keeps the old when to load it again fails, and tells whoever comes too late', async () => {
      nowMs = 5_100;
      const fail = (): Promise<number> => Promise.reject(new Error('down'));
      await shared.shareStale('a', fail, keptMs);
      await settled();
      turn();
      await settled();
      expect(await shared.shareStale('a', fail, keptMs)).to.equal(1);
      nowMs = 10_100;
      expect(await shared.shareStale('a', fail, keptMs).catch(String)).to.equal('Error: down');
    });
  });

  it('loads what took no time again once its time is over, for whoever waits for it', async () => {
    const shared = snapshot(1_000);
    await shared.shareStale('a', load, () => 5_000);
    nowMs = 5_000;
    expect(await shared.shareStale('a', load, () => 5_000)).to.equal(2);
  });

  it('loads a thing once for all who ask within its lifetime', async () => {
    const shared = snapshot(1_000);
    const asked = await Promise.all([shared.share('a', load), shared.share('a', load)]);
    nowMs = 999;
    expect([...asked, await shared.share('a', load)]).to.deep.equal([1, 1, 1]);
  });

  it('loads it again afterwards', async () => {
    const shared = snapshot(1_000);
    await shared.share('a', load);
    nowMs = 1_000;
    expect(await shared.share('a', load)).to.equal(2);
  });

  it('does not load a thing twice at a time, however long it takes', async () => {
    const shared = snapshot(1_000);
    let resolve: (value: number) => void = () => undefined;
    const first = shared.share('a', () => new Promise<number>((settle) => (resolve = settle)));
    nowMs = 60_000;
    const second = shared.share('a', load);
    resolve(7);
    expect([await first, await second, loads]).to.deep.equal([7, 7, 0]);
  });

  it('keeps what took long for as long as it took', async () => {
    const shared = snapshot(1_000);
    await shared.share('a', async () => {
      nowMs = 10_000;
    });
    nowMs = 19_999;
    await shared.share('a', load);
    expect(loads).to.equal(0);
    nowMs = 20_000;
    await shared.share('a', load);
    expect(loads).to.equal(1);
  });

  it('tells things apart by their keys', async () => {
    const shared = snapshot(1_000);
    expect([await shared.share('a', load), await shared.share('b', load)]).to.deep.equal([1, 2]);
  });

  it('does not keep a failure', async () => {
    const shared = snapshot(1_000);
    const failed = await shared.share('a', () => Promise.reject(new Error('down'))).catch(String);
    expect([failed, await shared.share('a', load)]).to.deep.equal(['Error: down', 1]);
  });

  it('forgets the oldest when there are too many', async () => {
    const shared = snapshot(1_000);
    for (let key = 0; key <= 1_000; key += 1) await shared.share(String(key), load);
    expect([await shared.share('1000', load), await shared.share('0', load)]).to.deep.equal([1_001, 1_002]);
  });
});
