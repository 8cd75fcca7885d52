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
    const asked = [shared.share('a', load), shared.share('a', load)];
    nowMs = 999;
    expect(await Promise.all([...asked, shared.share('a', load)])).to.deep.equal([1, 1, 1]);
  });

  it('loads it again afterwards', async () => {
    const shared = snapshot(1_000);
    await shared.share('a', load);
    nowMs = 1_000;
    expect(await shared.share('a', load)).to.equal(2);
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
