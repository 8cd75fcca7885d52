import { expect } from 'chai';
import { Snapshot } from '../src/reading/snapshot.js';

describe('a snapshot', () => {
  let nowMs = 0;
  let loads = 0;
  const load = async (): Promise<number> => (loads += 1);
  beforeEach(() => {
    nowMs = 0;
    loads = 0;
  });
  const snapshot = (lifetimeMs: number): Snapshot => new Snapshot(lifetimeMs, () => nowMs);

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
